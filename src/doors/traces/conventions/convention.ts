import type { Message } from '../messages.ts';
import type { ObservationKind } from '../observation.ts';
import type { OmissionCounts } from '../omissions.ts';
import type { Span } from '../span.ts';

/** How one family of libraries writes calls of models and agents into spans. */
export interface Convention {
  /** The beginnings of the names of the attributes that it reads. */
  readonly reads: readonly string[];
  /** What the span is; undefined: the span does not follow this convention. */
  kindOf(span: Span): ObservationKind | undefined;
  /** What went in; undefined: not recorded in this way. Parts that hold no text are counted in `omitted`. */
  asked(span: Span, omitted: OmissionCounts): readonly Message[] | undefined;
  /** What came out. */
  answered(span: Span, omitted: OmissionCounts): readonly Message[] | undefined;
}

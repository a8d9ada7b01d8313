/**
 * The list of conversations that a search in texts finds.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useEffect, useState } from 'preact/hooks';
import { api, type ApiError, type TextSearchResponse, type Parameters } from './api.ts';
import { FilterBar } from './filter-bar.tsx';
import { conversationParameters, filtersOf } from './filters.ts';
import { formatCount, formatInstant } from './format.ts';
import { useNavigation } from './hooks.ts';
import { Fault, Go, Section } from './parts.tsx';
import { usePeriod } from './period.ts';
import { titleOf } from './transcript-words.ts';

type Found = TextSearchResponse['elements'][number];

interface Search {
  readonly found: readonly Found[];
  readonly gone: number;
  readonly left: number;
  /** Null: complete; undefined: not begun. */
  readonly next: string | null | undefined;
  readonly isLooking: boolean;
  readonly error: ApiError | null;
}

const START: Search = { found: [], gone: 0, left: 0, next: undefined, isLooking: true, error: null };
/** Conversations that a search collects before it pauses. */
const PAGE = 25;

/** Searches until a page is full; `go` continues. */
function useSearch(parameters: Parameters): Search & { readonly go: () => void } {
  const [search, setSearch] = useState(START);
  const [wanted, setWanted] = useState(PAGE);
  const key = JSON.stringify(parameters);
  const [asked, setAsked] = useState(key);
  if (asked !== key) {
    setAsked(key);
    setSearch(START);
    setWanted(PAGE);
  }
  const { found, gone, next, error } = search;
  const isLooking = error === null && next !== null && found.length < wanted;
  useEffect(() => {
    if (!isLooking) return;
    const stop = new AbortController();
    const cursor = next === undefined ? {} : { cursor: next };
    api.textSearch({ ...parameters, ...cursor, limit: PAGE }, stop.signal).then(
      ({ elements, searched, pagination }) => {
        if (stop.signal.aborted) return;
        setSearch({
          ...START,
          found: [...found, ...elements],
          gone: gone + searched.gone,
          left: searched.left,
          next: pagination.next,
        });
      },
      (fault: ApiError) => stop.signal.aborted || setSearch({ ...search, error: fault }),
    );
    return () => stop.abort();
  }, [key, next, isLooking]);
  return { ...search, isLooking, go: () => setWanted(found.length + PAGE) };
}

export function TextSearchList({ said }: { readonly said: string }) {
  const { state } = useNavigation();
  const period = usePeriod();
  const { groupBy: _, ...parameters } = conversationParameters(period, filtersOf(state));
  const { found, gone, left, next, isLooking, error, go } = useSearch({ ...parameters, said });
  return (
    <Section title={`Conversations in which “${said}” was said`}>
      <FilterBar />
      {found.map(({ dimensions: { session }, said: { position, excerpt, createdAt, role } }) =>
        session === undefined ? null : (
          <div class="conversation" key={position}>
            <p class="title">
              <Go to={{ session: session.id }}>{titleOf(session, null, 'Without a title')}</Go>
            </p>
            <p class="summary">{excerpt}</p>
            <p class="faint meta">
              {role} · {formatInstant(createdAt)}
            </p>
          </div>
        ),
      )}
      <Fault error={error} />
      <p class="faint" role="status">
        {isLooking ? 'Looking …' : found.length === 0 && next === null ? 'Nobody said it here.' : ''}
        {next === null
          ? ' Every message was looked at.'
          : ` ${formatCount(left)} messages are left to look at.`}
        {gone === 0 ? '' : ` The texts of ${formatCount(gone)} messages are gone.`}
      </p>
      {isLooking || typeof next !== 'string' ? null : (
        <button type="button" onClick={go}>
          Look further
        </button>
      )}
    </Section>
  );
}

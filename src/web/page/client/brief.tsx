/**
 * What closing a gap takes, as a file for whoever writes the article or builds the action, and what the service's writer
 * makes of it. A draft is shown as plain text, so nothing in it can become markup here.
 *
 * Test: test/e2e/dashboard.test.ts, test/e2e/draft-rules.test.ts.
 */
import { useEffect, useState } from 'preact/hooks';
import { api, type ApiError } from './api.ts';
import { asApiError, useKey } from './hooks.ts';
import { Fault, saveFile, Section } from './parts.tsx';
import { usePeriod } from './period.ts';

const FILES = [
  ['Markdown', 'md', 'text/markdown'],
  ['CSV', 'csv', 'text/csv'],
] as const;

/** `type`: undefined until known. */
export function BriefOf({
  id,
  name,
  type,
}: {
  readonly id: string;
  readonly name: string;
  readonly type: 'TOOL' | 'KNOWLEDGE' | undefined;
}) {
  const { instance, range } = usePeriod();
  const key = useKey();
  const [fault, setFault] = useState<ApiError | null>(null);
  const [draft, setDraft] = useState<string | null>(null);
  const [isDrafting, setDrafting] = useState(false);
  const [leaving] = useState(() => new AbortController());
  // The model stops where nobody waits for it.
  useEffect(() => () => leaving.abort(), [leaving]);
  const asked = { instanceId: instance, ...range };
  const fail = (error: unknown): void => setFault(asApiError(error));
  const askDraft = async (): Promise<void> => {
    setFault(null);
    setDrafting(true);
    try {
      setDraft((await api.draft(id, asked, leaving.signal)).markdown);
    } catch (error) {
      fail(error);
    }
    setDrafting(false);
  };
  return (
    <>
      <div class="curate" role="group" aria-label={`What closing ${name} takes`}>
        <span>What people asked for, to hand on:</span>
        {FILES.map(([words, ending, accept]) => (
          <button
            key={accept}
            type="button"
            class="quiet"
            onClick={() => {
              setFault(null);
              api
                .brief(id, asked, accept)
                .then((file) => saveFile(`${name}.${ending}`, file))
                .catch(fail);
            }}
          >
            {words}
          </button>
        ))}
        {key?.drafts !== true || type === undefined ? null : (
          <button type="button" class="quiet" disabled={isDrafting} onClick={() => void askDraft()}>
            {isDrafting ? 'The model writes …' : type === 'TOOL' ? 'Draft a requirement' : 'Draft an article'}
          </button>
        )}
        <Fault error={fault} />
      </div>
      {draft === null ? null : <Draft name={name} text={draft} onClose={() => setDraft(null)} />}
    </>
  );
}

function Draft({
  name,
  text,
  onClose,
}: {
  readonly name: string;
  readonly text: string;
  readonly onClose: () => void;
}) {
  return (
    <Section
      title="Draft, written by a language model"
      action={
        <>
          <button
            type="button"
            class="quiet"
            onClick={() => saveFile(`${name} draft.md`, new Blob([text], { type: 'text/markdown' }))}
          >
            Save as Markdown
          </button>
          <button type="button" class="quiet" onClick={onClose}>
            Close
          </button>
        </>
      }
    >
      <pre role="status" aria-label={`Draft for ${name}`} tabIndex={0}>
        {text}
      </pre>
    </Section>
  );
}

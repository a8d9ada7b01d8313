/**
 * What closing a gap takes, as a file for whoever writes the article or builds the action.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useState } from 'preact/hooks';
import { api, type ApiError } from './api.ts';
import { asApiError } from './hooks.ts';
import { Fault, saveFile } from './parts.tsx';
import { usePeriod } from './period.ts';

const FILES = [
  ['Markdown', 'md', 'text/markdown'],
  ['CSV', 'csv', 'text/csv'],
] as const;

export function BriefOf({ id, name }: { readonly id: string; readonly name: string }) {
  const { instance, range } = usePeriod();
  const [fault, setFault] = useState<ApiError | null>(null);
  return (
    <div class="curate" role="group" aria-label={`What closing ${name} takes`}>
      <span>What people asked for, to hand on:</span>
      {FILES.map(([words, ending, type]) => (
        <button
          key={type}
          type="button"
          class="quiet"
          onClick={() => {
            setFault(null);
            api
              .brief(id, { instanceId: instance, ...range }, type)
              .then((file) => saveFile(`${name}.${ending}`, file))
              .catch((error: unknown) => setFault(asApiError(error)));
          }}
        >
          {words}
        </button>
      ))}
      <Fault error={fault} />
    </div>
  );
}

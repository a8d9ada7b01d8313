/**
 * Last week's digest, as a file to read or to pass on.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useState } from 'preact/hooks';
import { api, type ApiError } from './api.ts';
import { asApiError, useNavigation } from './hooks.ts';
import { Fault, saveFile } from './parts.tsx';

export function SaveDigest({ instanceName }: { readonly instanceName: string }) {
  const { state } = useNavigation();
  const [fault, setFault] = useState<ApiError | null>(null);
  const save = (): void => {
    setFault(null);
    api
      .digest(state.instance)
      .then(({ page, week }) => saveFile(`digest ${instanceName} ${week}.html`, page))
      .catch((error: unknown) => setFault(asApiError(error)));
  };
  return (
    <>
      <button type="button" class="quiet" onClick={save}>
        Download last week’s digest
      </button>
      <Fault error={fault} />
    </>
  );
}

/**
 * The alerts of an instance: condition, delivery and latest messages of each.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useState } from 'preact/hooks';
import { NewAlertDialog } from './alert-form.tsx';
import { conditionWords, deliveryWords } from './alert-words.ts';
import { api, type Alert, type ApiError, type NewAlert } from './api.ts';
import { useCurating } from './curating.ts';
import { Dialog } from './dialog.tsx';
import { SaveDigest } from './digest.tsx';
import { formatInstant } from './format.ts';
import { useAnswer, useNavigation } from './hooks.ts';
import { Empty, Fault, Head, Loading, Section } from './parts.tsx';

export function AlertsPage({ instanceName }: { readonly instanceName: string }) {
  const { state } = useNavigation();
  const { reason } = useCurating();
  const [edits, setEdits] = useState(0);
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<NewAlert | null>(null);
  const { value, error } = useAnswer(`alerts ${state.instance}`, String(edits), (signal) =>
    api.alerts(state.instance, signal),
  );
  if (value === null) return error === null ? <Loading /> : <Fault error={error} />;
  return (
    <>
      <div class="heading">
        <h1>Alerts</h1>
        <p class="lead">
          An alert sends a message when its condition is met: to Slack, by e-mail or to a web address of your
          own. About the same thing, it sends at most one message an hour, day or week, as you choose.
        </p>
        <div class="curate">
          <button type="button" disabled={reason !== ''} title={reason} onClick={() => setMaking(true)}>
            New alert …
          </button>{' '}
          <SaveDigest instanceName={instanceName} />
        </div>
        {reason === '' ? null : <p class="faint">{reason}</p>}
      </div>
      {made === null ? null : <Secret made={made} onClose={() => setMade(null)} />}
      {value.elements.length === 0 ? (
        <Empty>There are no alerts yet.</Empty>
      ) : (
        value.elements.map((alert) => (
          <AlertSection key={alert.id} alert={alert} onChange={() => setEdits(edits + 1)} />
        ))
      )}
      {isMaking ? (
        <NewAlertDialog
          instance={state.instance}
          onMade={(one) => {
            setMade(one);
            setEdits(edits + 1);
          }}
          onClose={() => setMaking(false)}
        />
      ) : null}
    </>
  );
}

/** The API returns the secret only once. */
function Secret({ made, onClose }: { readonly made: NewAlert; readonly onClose: () => void }) {
  return (
    <p class="notice done" role="status">
      <span>
        “{made.alert.name}” is made.{' '}
        {made.alert.delivery.format === 'email' ? (
          'Its messages are sent by e-mail.'
        ) : (
          <>
            Its messages are signed with the secret <code>{made.secret}</code>. Keep it if the receiver checks
            signatures: it is not shown again.
          </>
        )}
      </span>
      <button type="button" class="quiet" onClick={onClose}>
        Close
      </button>
    </p>
  );
}

/** Most receivers have answered a test by then. */
const TEST_VISIBLE_AFTER_MS = 1500;

function AlertSection({ alert, onChange }: { readonly alert: Alert; readonly onChange: () => void }) {
  const { reason } = useCurating();
  const [tests, setTests] = useState(0);
  const [fault, setFault] = useState<ApiError | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const mayWrite = { disabled: reason !== '', title: reason };
  const test = (): void => {
    setFault(null);
    api
      .testAlert(alert)
      .then(() => setTimeout(() => setTests((count) => count + 1), TEST_VISIBLE_AFTER_MS), setFault);
  };
  const actions = (
    <>
      <button type="button" class="quiet" {...mayWrite} onClick={test}>
        Send a test<span class="hidden"> of {alert.name}</span>
      </button>
      <button type="button" class="quiet" {...mayWrite} onClick={() => setRemoving(true)}>
        Delete …<span class="hidden"> {alert.name}</span>
      </button>
    </>
  );
  return (
    <Section title={alert.name} action={actions}>
      <p>
        {conditionWords(alert.condition)}.{' '}
        <span class="faint">
          {deliveryWords(alert.delivery)}. Times are those of {alert.timeZone}.
        </span>
      </p>
      {alert.disabledReason === null ? null : (
        <p class="fault">This alert is disabled: {alert.disabledReason}.</p>
      )}
      <Fault error={fault} />
      <Messages alert={alert} version={String(tests)} />
      {isRemoving ? (
        <RemovalDialog alert={alert} onRemoved={onChange} onClose={() => setRemoving(false)} />
      ) : null}
    </Section>
  );
}

function RemovalDialog({
  alert,
  onRemoved,
  onClose,
}: {
  readonly alert: Alert;
  readonly onRemoved: () => void;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      title={`Delete “${alert.name}”`}
      action="Delete"
      isReady
      onConfirm={async () => {
        await api.removeAlert(alert);
        onRemoved();
      }}
      onClose={onClose}
    >
      <p>It no longer fires, and messages that are not delivered yet are dropped.</p>
    </Dialog>
  );
}

const STATES = { pending: 'being sent', delivered: 'delivered', dead: 'given up' } as const;
const MOST_LISTED = 10;

function Messages({ alert, version }: { readonly alert: Alert; readonly version: string }) {
  const { value, error } = useAnswer(`alert ${alert.id}`, version, (signal) => api.alert(alert, signal));
  if (value === null) return <Fault error={error} />;
  if (value.deliveries.length === 0) return <Empty>It has sent no message yet.</Empty>;
  return (
    <table>
      <Head columns={[['Message'], ['When'], ['State']]} />
      <tbody>
        {value.deliveries.slice(0, MOST_LISTED).map(({ id, text, createdAt, state, lastError }) => (
          <tr key={id}>
            <td>{text}</td>
            <td class="faint">{formatInstant(createdAt)}</td>
            <td title={lastError ?? ''}>
              {STATES[state]}
              {lastError === null ? null : <p class="faint">{lastError}</p>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/**
 * The dialog that creates an alert.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useState } from 'preact/hooks';
import type { Condition, Counted, Format, Window } from '../../../contract/alerts.ts';
import { THINGS, WINDOW_WORDS } from './alert-words.ts';
import { api, ApiError, type NewAlert } from './api.ts';
import { Choice } from './choice.tsx';
import { Dialog } from './dialog.tsx';
import { useAttributes } from './segments.tsx';
import { ZoneInput } from './zone-input.tsx';
import { zoneName } from './zone.ts';

type Kind = Condition['kind'];

const KINDS: readonly (readonly [kind: Kind, words: string])[] = [
  ['rising', 'Something comes up far more often than before'],
  ['count', 'Something comes up in a number of conversations'],
  ['new_topic', 'People ask about something new'],
  ['new_value', 'A release, prompt or model is new, and something differs'],
  ['came_back', 'Something that was fixed comes back'],
  ['dsat_share', 'Too many conversations show dissatisfaction'],
  ['digest', 'A week is over: a digest of it'],
];
const MAX_NAME = 100;

interface Asked {
  readonly kind: Kind;
  readonly groupBy: Counted;
  readonly window: Window;
  /** Raw text of its input, as the next two. */
  readonly atLeast: string;
  readonly factor: string;
  /** Percent. */
  readonly above: string;
  /** An attribute. */
  readonly segmentKey: string;
}

const START: Asked = {
  kind: 'rising',
  groupBy: 'TOPIC',
  window: 'DAY',
  atLeast: '10',
  factor: '2',
  above: '20',
  segmentKey: '',
};

/** What a number of conversations is at the start, but for kinds with a bound of their own. */
const AT_LEAST: Partial<Readonly<Record<Kind, string>>> = { dsat_share: '50', new_value: '30' };

/** Returns the condition for the API, which validates its numbers. */
function conditionOf({ kind, groupBy, window, atLeast, factor, above, segmentKey }: Asked): Condition {
  const least = Number(atLeast);
  switch (kind) {
    case 'count':
      return { kind, groupBy, window, atLeast: least };
    case 'rising':
      return { kind, groupBy, window, atLeast: least, factor: Number(factor) };
    case 'new_topic':
      return { kind, atLeast: least };
    case 'new_value':
      return { kind, segmentKey: segmentKey.trim(), minSessions: least };
    case 'dsat_share':
      return { kind, window, above: Number(above) / 100, minSessions: least };
    case 'came_back':
    case 'digest':
      return { kind };
    default:
      return kind satisfies never;
  }
}

export function NewAlertDialog({
  instance,
  onMade,
  onClose,
}: {
  readonly instance: string;
  readonly onMade: (made: NewAlert) => void;
  readonly onClose: () => void;
}) {
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [format, setFormat] = useState<Format>('undertone');
  const [asked, setAsked] = useState(START);
  const [zone, setZone] = useState(zoneName());
  const set = (changes: Partial<Asked>): void => setAsked({ ...asked, ...changes });
  return (
    <Dialog
      title="New alert"
      action="Make alert"
      isReady={[name, url, zone].every((given) => given.trim() !== '')}
      onConfirm={async () => {
        const to = addressOf(url.trim());
        if (to === url.trim() && !to.includes(':'))
          throw new ApiError(
            400,
            '',
            'Write the URL of a webhook (https://example.com/hook) or addresses of e-mail (ada@example.com).',
          );
        const delivery = {
          url: to,
          format: to.startsWith('mailto:') ? ('email' as const) : format,
          quotes: false,
        };
        onMade(
          await api.makeAlert({
            instanceId: instance,
            name: name.trim(),
            condition: conditionOf(asked),
            delivery,
            timeZone: zone.trim(),
          }),
        );
      }}
      onClose={onClose}
    >
      <label>
        Name
        <input
          maxLength={MAX_NAME}
          placeholder="The heading of its messages"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <Choice
        label="When"
        value={asked.kind}
        options={KINDS}
        onChoice={(kind) => set({ kind, atLeast: AT_LEAST[kind] ?? START.atLeast })}
      />
      <ConditionFields asked={asked} set={set} />
      <label>
        Hours, days and weeks of
        <ZoneInput value={zone} set={setZone} />
      </label>
      <label>
        URL or e-mail
        <input
          placeholder="A webhook, or addresses with commas between them"
          value={url}
          onInput={(event) => {
            const given = event.currentTarget.value;
            setUrl(given);
            if (given.includes('//hooks.slack.com/')) setFormat('slack');
          }}
        />
      </label>
      {url.includes('://') || !url.includes('@') ? (
        <Choice
          label="Format of the messages"
          value={format}
          options={[
            ['undertone', 'JSON with all figures'],
            ['slack', 'Slack'],
          ]}
          onChoice={setFormat}
        />
      ) : null}
    </Dialog>
  );
}

/** Turns e-mail addresses, in any common notation, into a mailto URL; returns other text unchanged. */
function addressOf(text: string): string {
  if (text.includes('://') || !text.includes('@')) return text;
  const people = text.startsWith('mailto:') ? text.slice('mailto:'.length) : text;
  return `mailto:${people
    .split(/[\s,;]+/)
    .filter((one) => one !== '')
    .join(',')}`;
}

function ConditionFields({
  asked,
  set,
}: {
  readonly asked: Asked;
  readonly set: (changes: Partial<Asked>) => void;
}) {
  const { kind } = asked;
  const isCounted = kind === 'count' || kind === 'rising';
  return (
    <>
      {isCounted ? (
        <Choice
          label="What"
          value={asked.groupBy}
          options={Object.entries(THINGS) as [Counted, string][]}
          onChoice={(groupBy) => set({ groupBy })}
        />
      ) : null}
      {isCounted || kind === 'dsat_share' ? (
        <Choice
          label="Within"
          value={asked.window}
          options={Object.entries(WINDOW_WORDS) as [Window, string][]}
          onChoice={(window) => set({ window })}
        />
      ) : null}
      {kind === 'rising' ? (
        <Amount
          label="At least this many times the average before"
          value={asked.factor}
          set={(factor) => set({ factor })}
        />
      ) : null}
      {kind === 'new_value' ? <AttributeInput value={asked.segmentKey} set={set} /> : null}
      {kind === 'dsat_share' ? (
        <Amount label="More than this many percent" value={asked.above} set={(above) => set({ above })} />
      ) : null}
      {kind === 'came_back' ? (
        <p class="faint">
          What you say is fixed, and came up less often since then, is watched for a year. The overview lists
          what came back before.
        </p>
      ) : null}
      {kind === 'digest' || kind === 'came_back' ? null : (
        <Amount
          label={AMOUNTS[kind] ?? 'In at least this many conversations'}
          value={asked.atLeast}
          set={(atLeast) => set({ atLeast })}
        />
      )}
    </>
  );
}

const AMOUNTS: Partial<Readonly<Record<Kind, string>>> = {
  dsat_share: 'Of at least this many conversations',
  new_value: 'With at least this many conversations, and as many of the value before',
};

/** An input for an attribute that suggests those of the instance. */
function AttributeInput({
  value,
  set,
}: {
  readonly value: string;
  readonly set: (changes: Partial<Asked>) => void;
}) {
  const attributes = useAttributes('');
  return (
    <label>
      Attribute
      <input
        list="attributes"
        placeholder="Such as version"
        value={value}
        onInput={(event) => set({ segmentKey: event.currentTarget.value })}
      />
      <datalist id="attributes">
        {attributes.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  );
}

function Amount({
  label,
  value,
  set,
}: {
  readonly label: string;
  readonly value: string;
  readonly set: (value: string) => void;
}) {
  return (
    <label>
      {label}
      <input
        type="number"
        min="0"
        step="any"
        value={value}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </label>
  );
}

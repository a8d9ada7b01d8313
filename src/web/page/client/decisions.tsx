/**
 * The list of curations, newest first, with time, key and status.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useEffect, useState } from 'preact/hooks';
import { LIFE_STATE_WORDS } from '../../../domain/lives.ts';
import { api, type CurationsResponse } from './api.ts';
import { useCurating } from './curating.ts';
import { MakeTopic, Undo } from './curate.tsx';
import { formatInstant, outcomeWords } from './format.ts';
import { useAnswer, useNavigation } from './hooks.ts';
import { SaveLabel } from './labels.tsx';
import { LifeLink, sinceWords } from './life.tsx';
import { Empty, Fault, Go, Loading, Section } from './parts.tsx';
import type { EntityKind } from './state.ts';
import { UnclaimedChoice } from './unclaimed.tsx';

export type Listed = CurationsResponse['elements'][number];

const PAGE = 100;
const VIEWS: Readonly<Record<string, EntityKind>> = {
  TOPIC: 'topic',
  TOPIC_CLUSTER: 'cluster',
  SIGNAL: 'signal',
  GAP: 'gap',
  REPEATED_REQUEST: 'repeat',
  LABEL: 'label',
};

export function DecisionsPage({ version }: { readonly version: string }) {
  const { state } = useNavigation();
  const { reason } = useCurating();
  const base = { instanceId: state.instance, limit: PAGE };
  const { value, error } = useAnswer(`decisions ${state.instance}`, version, (signal) =>
    api.curations(base, signal),
  );
  const [more, setMore] = useState<{ readonly rows: readonly Listed[]; readonly next: string | null }>({
    rows: [],
    next: null,
  });
  useEffect(() => setMore({ rows: [], next: value?.pagination.next ?? null }), [value]);
  if (value === null) return error === null ? <Loading /> : <Fault error={error} />;
  const rows = [...value.elements, ...more.rows];
  const { next } = more;
  return (
    <>
      <div class="heading">
        <h1>Decisions</h1>
        <p class="lead">
          What people have corrected. A decision holds until somebody undoes it; then what was there before is
          back. All numbers follow.
        </p>
        <div class="curate">
          <MakeTopic words="New topic …" />
          <SaveLabel words="New label …" />
          <UnclaimedChoice version={version} />
        </div>
        {reason === '' ? null : <p class="faint">{reason}</p>}
      </div>
      <Section title="All decisions">
        {rows.length === 0 ? (
          <Empty>
            Nobody has decided anything yet. Open a topic to rename, merge, move or hide it, or a conversation
            to correct the topic of a message.
          </Empty>
        ) : (
          <DecisionTable rows={rows} />
        )}
        {next === null ? null : (
          <button
            type="button"
            onClick={() => {
              void api
                .curations({ ...base, cursor: next })
                .then((page) =>
                  setMore({ rows: [...more.rows, ...page.elements], next: page.pagination.next }),
                );
            }}
          >
            Show older ones
          </button>
        )}
      </Section>
    </>
  );
}

/** Reads the curations of an entity, newest first, and those that merged others into it; null while loading. */
export function useDecisionsAbout(id: string, isWanted: boolean, version: string): readonly Listed[] | null {
  const { state } = useNavigation();
  const { value, error } = useAnswer(`about ${state.instance} ${id} ${isWanted}`, version, async (signal) =>
    isWanted ? api.curations({ instanceId: state.instance, limit: 1000 }, signal) : { elements: [] },
  );
  if (value === null) return error === null ? null : [];
  return value.elements.filter(({ target, details }) => target.id === id || details.intoTopic?.id === id);
}

export function DecisionsAbout({ rows }: { readonly rows: readonly Listed[] }) {
  return rows.length === 0 ? null : (
    <Section title="Decisions">
      <DecisionTable rows={rows} />
    </Section>
  );
}

const STATUS = { APPLIED: '', REFUSED: 'refused', UNDONE: 'undone' } as const;

function DecisionTable({ rows }: { readonly rows: readonly Listed[] }) {
  return (
    <table class="decisions">
      <thead>
        <tr>
          <th scope="col">Decision</th>
          <th scope="col">When</th>
          <th scope="col" class="wide">
            Key
          </th>
          <th scope="col">
            <span class="hidden">Undo</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.curationId}>
            <td>
              <What row={row} undone={rows.find(({ curationId }) => curationId === row.target.id)} />{' '}
              {STATUS[row.status] === '' ? null : <span class="change gone">{STATUS[row.status]}</span>}
              {row.reason === null ? null : <p class="faint">{row.reason.message}</p>}
            </td>
            <td class="faint">{formatInstant(row.createdAt)}</td>
            <td class="faint wide">{row.keyId}</td>
            <td class="number">
              {row.status === 'APPLIED' && row.action !== 'UNDO' ? (
                <Undo curationId={row.curationId} />
              ) : null}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const NOUNS: Readonly<Record<string, string>> = {
  TOPIC: 'the topic',
  TOPIC_CLUSTER: 'the topic cluster',
  GAP: 'the gap',
  SIGNAL: 'the signal',
  REPEATED_REQUEST: 'the repeated request',
};

/** `undone`: the curation that an undo took back, if it is listed. */
function What({
  row: { action, target, details, createdAt },
  undone,
}: {
  readonly row: Listed;
  readonly undone?: Listed | undefined;
}) {
  const view = VIEWS[target.type];
  const linked = (words: string) =>
    view === undefined || target.name === null ? words : <Go to={{ view, id: target.id }}>{words}</Go>;
  const it = linked(target.name ?? 'what is no longer there');
  const noun = NOUNS[target.type] ?? '';
  /** The given name, and the current one if it has changed since. */
  const given = (
    <>
      “{linked(details.name ?? target.name ?? '')}”
      {target.name === null || details.name === undefined || target.name === details.name ? null : (
        <span class="faint"> (now “{target.name}”)</span>
      )}
    </>
  );
  const { intoTopic: into, topicCluster } = details;
  switch (action) {
    case 'RENAME':
      return (
        <>
          Renamed {noun} to {given}
        </>
      );
    case 'PIN':
      return (
        <>
          Kept the name of {noun} {given}
        </>
      );
    case 'MERGE':
      return (
        <>
          Merged {it} into{' '}
          {into === undefined ? '' : <Go to={{ view: 'topic', id: into.id }}>{into.name ?? 'another'}</Go>}
        </>
      );
    case 'MOVE':
      return (
        <>
          Moved {it} to the topic cluster “{details.newClusterName ?? topicCluster?.name ?? 'another'}”
        </>
      );
    case 'HIDE':
      return <>Hid {it}</>;
    case 'ASSIGN':
      if (target.type === 'SESSION')
        return (
          <>
            Counted the conversation{' '}
            <Go to={{ view: 'conversations', session: target.id }}>{target.name ?? 'without a title'}</Go> as
            “{outcomeWords(details.outcome ?? null).label}”
          </>
        );
      return (
        <>
          Counted {corrected(target.type)} for {it}
        </>
      );
    case 'EXCLUDE':
      return (
        <>
          Took {corrected(target.type)} out of {it}
        </>
      );
    case 'CREATE':
      return <>Made the topic {given}</>;
    case 'LABEL':
      return <>Saved the label {given}</>;
    case 'ROUTE':
      return details.unclaimed === 'OTHER' ? (
        <>Counted requests that fit none of your own topics as {linked('Other')}</>
      ) : (
        <>Showed found topics for requests that fit none of your own topics</>
      );
    case 'TRACK': {
      const { state = 'OPEN', owner, note, link } = details;
      const fixedAt = state === 'FIXED' ? (details.fixedAt ?? createdAt) : null;
      const since = sinceWords({ release: details.release, fixedAt });
      return (
        <>
          Set {noun} {it} to “{LIFE_STATE_WORDS[state]}”{since === '' ? '' : ` ${since}`}
          {owner === undefined ? '' : `, owner: ${owner}`} <LifeLink link={link} />
          {note === undefined ? null : <p class="faint">{note}</p>}
        </>
      );
    }
    case 'UNDO':
      return undone === undefined ? (
        <>Undid a decision</>
      ) : (
        <>
          Undid: <What row={undone} />
        </>
      );
    default:
      return action satisfies never;
  }
}

function corrected(type: Listed['target']['type']): string {
  return type === 'TOPIC' ? 'a message and its like' : 'a message';
}

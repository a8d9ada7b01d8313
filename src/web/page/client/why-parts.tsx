/**
 * Sections of an entity's page.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import type { ComponentChildren } from 'preact';
import type { WhyResponse } from './api.ts';
import { counted, languageName, formatCount, formatInstant, formatLift, formatShare } from './format.ts';
import { MakeTopic } from './curate.tsx';
import { useNavigation } from './hooks.ts';
import { Go, Head, Ranked, Section } from './parts.tsx';
import type { EntityKind, PageState } from './state.ts';

export function Wordings({
  found: { wordings, topic },
  kind,
}: {
  readonly found: WhyResponse;
  readonly kind: EntityKind;
}) {
  const typical = new Set(wordings.typical.map(({ position }) => position));
  const isFound = topic !== undefined && topic.isOwn !== true;
  const adopt = isFound ? (
    <MakeTopic
      examples={wordings.typical.map(({ text }) => text)}
      from={topic}
      words="Keep as a topic of your own …"
      isQuiet
    />
  ) : null;
  const lists = [
    [kind === 'user' ? 'What they mostly ask' : 'Typical wordings', wordings.typical, adopt],
    ['Newest', wordings.newest.filter(({ position }) => !typical.has(position)), null],
  ] as const;
  return (
    <>
      {lists.map(([title, list, action]) =>
        list.length === 0 ? null : (
          <Section key={title} title={title} action={action}>
            <ul class="wordings">
              {list.map(({ position, sessionId, text, createdAt }) => (
                <li key={position}>
                  <Go to={{ session: sessionId }}>“{text}”</Go>
                  <span class="faint"> {formatInstant(createdAt)}</span>
                </li>
              ))}
            </ul>
          </Section>
        ),
      )}
    </>
  );
}

/** A topic counts only the signals in its own messages; the average counts all. */
const OWN_MESSAGES =
  'Here: conversations with the signal in a message of the topic itself. Average: conversations with it anywhere.';

export function Signals({
  found: { signals },
  kind,
}: {
  readonly found: WhyResponse;
  readonly kind: EntityKind;
}) {
  if (signals.length === 0) return null;
  return (
    <Section title="Signals, beside the average">
      <table>
        <Head
          columns={[['Signal'], ['Here', 'number'], ['Average', 'number'], ['Times the average', 'number']]}
        />
        <tbody>
          {signals.map(({ id, name, signalType, sessions, share, instanceShare, lift }) => (
            <tr key={id}>
              <td>
                <span class={signalType === 'SAT' ? 'dot good' : 'dot bad'} aria-hidden="true" />
                <Go to={{ view: 'signal', id }}>{name}</Go>
                <span class="hidden"> ({signalType})</span>
              </td>
              <td class="number">
                {formatShare(share)} <span class="faint">({formatCount(sessions)})</span>
              </td>
              <td class="number">{formatShare(instanceShare)}</td>
              <td class="number">{formatLift(lift, sessions)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {kind === 'topic' || kind === 'cluster' ? <p class="faint">{OWN_MESSAGES}</p> : null}
    </Section>
  );
}

export function Together({ found }: { readonly found: WhyResponse }) {
  const lists = [
    ['Topics', 'topic', found.topics],
    ['Gaps', 'gap', found.gaps],
    ['Asked again', 'repeat', found.repeatedRequests],
  ] as const;
  return (
    <>
      {lists.map(([title, view, list]) =>
        list.length === 0 ? null : (
          <Section key={title} title={title}>
            <Ranked
              rows={list.map(({ id, name, sessions }) => ({ id, name, count: sessions, to: { view, id } }))}
            />
          </Section>
        ),
      )}
    </>
  );
}

/** `view`: the view whose list shows the conversations in a language. */
export function Languages({
  languages,
  view,
  children,
}: {
  readonly languages: readonly { readonly language: string | null; readonly sessions: number }[];
  readonly view: PageState['view'];
  readonly children?: ComponentChildren;
}) {
  const { state } = useNavigation();
  return (
    <Section title="Languages">
      <Ranked
        rows={languages.map(({ language, sessions }) => ({
          id: language ?? '',
          name: languageName(language),
          count: sessions,
          ...(language === null ? {} : { to: { view, filters: { ...state.filters, language } } }),
        }))}
      />
      {children}
    </Section>
  );
}

export function Users({
  found: { endUsers },
  all,
}: {
  readonly found: WhyResponse;
  /** Number of the entity's users; the list has those with most messages. */
  readonly all: number;
}) {
  if (endUsers.length === 0) return null;
  return (
    <Section title="Users">
      <Ranked
        rows={endUsers.map(({ id, externalId, sessions }) => ({
          id,
          name: externalId,
          count: sessions,
          to: { view: 'user', id },
        }))}
      />
      {all > endUsers.length ? (
        <p class="faint">Those with most of its messages, of {counted(all, 'user')}.</p>
      ) : null}
    </Section>
  );
}

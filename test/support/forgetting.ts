/** Forgetting in a copy of the views: what its law checks. Used by test/store/live/forget.test.ts. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { forgetIn, type Forgotten } from '../../src/store/live/forget.ts';
import { refold } from '../../src/store/live/refold.ts';
import { StateStore } from '../../src/store/live/state-store.ts';
import type { View } from '../../src/store/view-files.ts';
import { openFixture, temporaryDirectory, uuid } from './fold.ts';
import { history, INSTANCES, readHistory, type History } from './histories.ts';
import type { Law } from './laws.ts';
import { refoldOptions } from './refolds.ts';
import { foldLive } from './view-laws.ts';
import { sameRows, stateRows, type ViewRows } from './view-rows.ts';

/** Nothing is to be forgotten of an instance; a test states what is. */
export function forgotten(instance: number, parts: Partial<Forgotten> = {}): Forgotten {
  return {
    instanceId: uuid(1, instance),
    waitsFor: false,
    positions: [],
    feedback: [],
    whole: null,
    countsBefore: null,
    textsBefore: null,
    peopleBefore: null,
    isGone: () => false,
    nobody: (externalId) => ({ id: uuid(3, 1), externalId }),
    forgetState: null,
    beginnings: () => [],
    ...parts,
  };
}

/** The rows of views that are made from the facts of `directory` without what is to be forgotten. */
export async function rowsWithout(
  directory: string,
  all: readonly Forgotten[],
  views: readonly View[],
): Promise<ViewRows> {
  const folder = temporaryDirectory();
  try {
    const copy = join(folder.path, 'state.duckdb');
    copyFileSync(join(directory, 'state.duckdb'), copy);
    await forgetIn(copy, all);
    const made = join(folder.path, '2/0');
    await refold({ ...refoldOptions(folder.path, made, views), from: copy });
    const store = await StateStore.open({ directory: made, views, analysis: 'test', threads: 1 });
    try {
      return await stateRows(store.connection, views);
    } finally {
      await store.close();
    }
  } finally {
    folder.remove();
  }
}

/** Whether a message goes: every other session whole, and some messages of the others. */
const goes = ({ position, session }: { readonly position: number; readonly session: number }): boolean =>
  session % 2 === 1 || position % 3 === 0;

/**
 * Views made from the facts of a history without some of its messages have the rows of the same history without them;
 * sessions that lose some of theirs lose their texts as well.
 */
export function forgettingLaw(views: readonly View[]): Law<History> {
  return {
    name: 'forgetting',
    cases: history('any'),
    check: async (given) => {
      const { batches, whole } = readHistory(given);
      const fixture = await openFixture({ views, compactRows: 100 });
      const fresh = await openFixture({ views });
      try {
        await foldLive(fixture, batches, views);
        const { work, sequence, lastSequenceOf, sessionNames, attributes, feedback } = whole;
        const gone = work.messages.filter(goes);
        const left = work.messages.filter((message) => !goes(message));
        let rows: ViewRows = {};
        await fixture.restart(async () => {
          const all = Array.from({ length: INSTANCES }, (_, index) =>
            forgotten(index + 1, {
              positions: gone
                .filter(({ instance }) => instance === index + 1)
                .map(({ position }) => position),
            }),
          );
          rows = await rowsWithout(fixture.directory, all, views);
        });
        const touched = new Set(gone.map(({ session }) => session));
        const sessions = new Set(left.map(({ session }) => session));
        const emptied = new Set(
          work.sessions.filter(({ session }) => !sessions.has(session)).map(({ id }) => id),
        );
        const openings = work.openingAuthors.filter(({ session, beforePosition }) =>
          left.some((message) => message.session === session && message.position < beforePosition),
        );
        const users = new Set([...left, ...openings].map(({ user }) => user));
        await fresh.fold(
          {
            ...work,
            messages: left,
            openingAuthors: openings,
            sessions: work.sessions
              .filter(({ session }) => sessions.has(session))
              .map((row) => {
                const user = users.has(row.user) ? row.user : null;
                return touched.has(row.session) ? { ...row, user, title: null, summary: null } : row;
              }),
          },
          [],
          {
            sequence,
            lastSequenceOf,
            sessionNames: sessionNames.filter(({ session }) => sessions.has(session)),
            attributes: attributes.filter(({ session }) => sessions.has(session)),
            feedback: feedback.filter(({ sessionId }) => !emptied.has(sessionId)),
            processedAt: 0,
          },
        );
        const expected = await stateRows(fresh.store.connection, views);
        sameRows(withoutEmptied(rows), withoutEmptied(expected), 'forgotten');
      } finally {
        await fixture.close();
        await fresh.close();
      }
    },
  };
}

/** An instance stays known when nothing of it is left, and so do the names of what its end users gave. */
function withoutEmptied(rows: ViewRows): ViewRows {
  const { instance: _, signal = [], ...others } = rows;
  return { ...others, signal: signal.filter((row) => row['source'] !== 'GIVEN') };
}

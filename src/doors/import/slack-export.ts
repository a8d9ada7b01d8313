/**
 * Finds Slack exports among files and plans each export as one.
 *
 * Test: test/doors/import/formats/slack.test.ts.
 */
import { basename, dirname } from 'node:path';
import { counted } from '../../domain/progress.ts';
import { entriesOf, type Layout } from './entries.ts';
import { isSlackMessage, slackFormat, type SlackNames, type SlackUser } from './formats/slack.ts';
import type { Mapping } from './formats/mapping.ts';
import type { Input } from './inputs.ts';
import type { FilePart, FilePlan } from './plan.ts';
import { isObject, textOf } from '../traces/values.ts';

const DAY_FILE = /^\d{4}-\d{2}-\d{2}\.json$/;
const USERS = 'users.json';
/** Lists of channels, of groups and of direct messages. */
const CHANNELS = ['channels.json', 'groups.json', 'mpims.json', 'dms.json'];
const LISTS = new Set([USERS, ...CHANNELS]);
const LIST: Layout = { shape: 'json', member: null };
/** Number of day files searched for a message; the first ones may be empty. */
const FILES_LOOKED_AT = 5;

/**
 * Returns one plan for each export, and the remaining files. Throws an Error naming the file if a list of users or
 * channels cannot be read.
 */
export async function slackExports(
  inputs: readonly Input[],
  roles: Mapping['roles'] = new Map(),
): Promise<{ plans: FilePlan[]; rest: readonly Input[] }> {
  const days = Map.groupBy(
    inputs.filter(({ name }) => DAY_FILE.test(basename(name))),
    ({ name }) => dirname(dirname(name)),
  );
  const listsIn = Map.groupBy(
    inputs.filter(({ name }) => LISTS.has(basename(name))),
    ({ name }) => dirname(name),
  );
  const taken = new Set<Input>();
  const plans: FilePlan[] = [];
  for (const [root, files] of days) {
    const [first, ...others] = files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    if (first === undefined || !(await holdMessages([first, ...others]))) continue;
    const lists = listsIn.get(root) ?? [];
    for (const file of [...files, ...lists]) taken.add(file);
    const names = await namesOf(lists);
    const partOf = (input: Input): FilePart => ({ input, layout: LIST });
    const channels = new Set(files.map(({ name }) => dirname(name))).size;
    plans.push({
      parts: [partOf(first), ...others.map(partOf)],
      format: slackFormat(names, roles),
      recognition: {
        confidence: 1,
        reason: `${counted(channels, 'channel')}, ${counted(names.users.size, 'user')}`,
      },
      mapping: [],
    });
  }
  return { plans, rest: inputs.filter((input) => !taken.has(input)) };
}

async function holdMessages(files: readonly Input[]): Promise<boolean> {
  for (const file of files.slice(0, FILES_LOOKED_AT)) {
    try {
      for await (const { value } of entriesOf(file, LIST)) {
        if (isObject(value) && isSlackMessage(value)) return true;
        break;
      }
    } catch {
      // The import reports the error of the file.
    }
  }
  return false;
}

async function namesOf(lists: readonly Input[]): Promise<SlackNames> {
  const users = new Map<string, SlackUser>();
  const channels = new Map<string, { id: string; name: string }>();
  for (const list of lists) {
    for await (const { number, value, fault } of entriesOf(list, LIST)) {
      const id = isObject(value) ? textOf(value['id']) : undefined;
      if (!isObject(value) || id === undefined)
        throw new Error(
          `${list.name} entry ${number}: ${fault ?? 'has no id'}; it says who is who in a Slack export`,
        );
      const name = textOf(value['name']);
      if (basename(list.name) === USERS) users.set(id, userOf(id, value));
      // Direct messages have no name; their folder is named by id.
      else channels.set(name ?? id, { id, name: name ?? id });
    }
  }
  return { users, channels };
}

function userOf(id: string, value: Record<string, unknown>): SlackUser {
  const { profile, real_name: real, name } = value;
  const { display_name: display, real_name: full } = isObject(profile) ? profile : {};
  const names = [display, full, real, name].flatMap((text) => textOf(text) ?? []);
  return { name: names[0] ?? id, isBot: value['is_bot'] === true, names };
}

/**
 * `npm run import -- --dry-run`: shows what an import would send, without a service.
 *
 * Test: test/cli/import.test.ts.
 */
import { printable } from '../domain/printable.ts';
import { roleOf } from '../domain/records.ts';
import { count, counted, megabytesPerSecond, type Progress } from '../domain/progress.ts';
import { convert } from '../doors/import/converter.ts';
import type { ImportOptions } from '../doors/import/contract.ts';
import { madeUpWords, untimedIn } from '../doors/import/made-up.ts';
import { usersOf, type Conversation } from '../doors/import/mapper.ts';
import { sizeOf, type FilePlan } from '../doors/import/plan.ts';
import { OmissionCounts } from '../doors/traces/omissions.ts';
import { describePlan, placeOf } from './import-plan.ts';

const MAX_NAMES = 20;
const MAX_FAULTS = 10;
const PREVIEW_CONVERSATIONS = 3;
const PREVIEW_ENTRIES = 500;
const PREVIEW_TURNS = 6;
const PREVIEW_CHARACTERS = 100;

type Named = Pick<ImportOptions, 'source' | 'user' | 'signal'>;

/**
 * Prints the first conversations of a file as they would be imported, then totals of the whole file. Returns false if
 * part of it cannot be imported.
 */
export async function printPreview(plan: FilePlan, named: Named, progress: Progress): Promise<boolean> {
  const names = plan.parts.map(({ input }) => input.name);
  const more = names.length > MAX_NAMES ? ' …' : '';
  console.log(printable(`${names.slice(0, MAX_NAMES).join(', ')}${more}: ${describePlan(plan)}`));
  await printFirst(plan, named);
  return printWhole(plan, named, progress);
}

async function printFirst(plan: FilePlan, named: Named): Promise<void> {
  let printed = 0;
  try {
    for await (const converted of convert(plan, { entries: PREVIEW_ENTRIES, ...named })) {
      if (!('conversation' in converted)) continue;
      printConversation(converted.conversation);
      printed += 1;
      if (printed === PREVIEW_CONVERSATIONS) return;
    }
  } catch {
    // The totals report the damage.
  }
  if (printed === 0 && named.signal?.aborted !== true)
    console.log(`  no conversation in the first ${PREVIEW_ENTRIES} entries`);
}

async function printWhole(plan: FilePlan, named: Named, progress: Progress): Promise<boolean> {
  const omitted = new OmissionCounts();
  const faults: string[] = [];
  let [conversations, messages, feedback, emptyTurns, failed, times, users] = [0, 0, 0, 0, 0, 0, 0];
  const fail = (text: () => string): void => {
    failed += 1;
    if (failed <= MAX_FAULTS) faults.push(text());
  };
  progress.begin({ title: 'reading', to: sizeOf(plan), rate: megabytesPerSecond });
  const onRead = (done: number): void => progress.update({ done });
  try {
    for await (const converted of convert(plan, { onRead, ...named })) {
      const { place, number } = converted;
      if ('fault' in converted) fail(() => `${placeOf({ ...place, line: number })}: ${converted.fault}`);
      else if ('leftOut' in converted) omitted.add(converted.leftOut);
      else {
        omitted.addAll(converted.omitted);
        conversations += 1;
        messages += converted.conversation.messages.length;
        feedback += converted.conversation.feedback.length;
        emptyTurns += converted.emptyTurns.length;
        times += untimedIn(converted.conversation.messages);
        if (converted.conversation.isAnonymous) users += usersOf(converted.conversation).size;
      }
    }
  } catch (error) {
    fail(() => `${plan.parts[0].input.name}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    progress.end();
  }
  if (named.signal?.aborted === true) return false;
  const thumbs = feedback === 0 ? '' : `, ${counted(feedback, 'thumb')}`;
  console.log(
    `  in all: ${counted(conversations, 'conversation')}, ${counted(messages, 'message')}${thumbs}`,
  );
  for (const words of madeUpWords({ times, users })) console.log(`  made up: ${words}`);
  if (emptyTurns > 0) omitted.add('empty turn', emptyTurns);
  for (const [reason, times] of omitted.all)
    console.log(printable(`  left out: ${count(times)} × ${reason}`));
  if (failed > 0) console.log(`  cannot be imported: ${count(failed)}`);
  for (const text of faults) console.log(printable(`    ${text}`));
  if (failed > faults.length) console.log('    …');
  return failed === 0 && conversations > 0;
}

function printConversation({ source, id, messages, feedback }: Conversation): void {
  const name = source === '' ? id : `${source}:${id}`;
  console.log(printable(`  ${name}, ${counted(messages.length, 'message')}`));
  for (const [place, { role, content, userId, metadata }] of messages.slice(0, PREVIEW_TURNS).entries()) {
    const at = metadata?.['createdAt'];
    // Assistant messages may have a user column too, which names the receiver.
    const who = userId === undefined || roleOf(role) !== 'user' ? role : `${role} ${userId}`;
    const text =
      [...content].length > PREVIEW_CHARACTERS
        ? `${[...content].slice(0, PREVIEW_CHARACTERS).join('')}…`
        : content;
    const given = feedback.filter(({ index }) => index === place);
    const thumbs = given.map(({ value }) => (value === 1 ? ' [thumbs up]' : ' [thumbs down]')).join('');
    console.log(
      printable(
        `    ${typeof at === 'string' ? at : 'no time'}  ${who}: ${text.replaceAll('\n', ' ')}${thumbs}`,
      ),
    );
  }
  const more = messages.length - PREVIEW_TURNS;
  if (more > 0) console.log(`    … and ${more} more`);
}

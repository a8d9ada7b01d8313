/** A program that logs and ends, closes, or goes on until it is killed: `program.ts URL KEY end|close|forever`. */
import { setTimeout as delay } from 'node:timers/promises';
import { Undertone } from '../../../src/doors/client/index.ts';

const [url = '', key = '', mode] = process.argv.slice(2);
const batchMs = mode === 'close' ? 60_000 : 1;
const undertone = new Undertone({ url, key, batchMs, backoffMs: 1 });
const session = undertone.session({ userId: 'ada' });

if (mode === 'forever') {
  for (let number = 1; ; number += 1) {
    await session.user(`message ${number}`);
    await delay(1);
  }
}
// Nobody waits for these: the program ends with what it has logged.
void session.user('Where is my parcel?');
void session.assistant('It arrives tomorrow.');
if (mode === 'close') await undertone.close();

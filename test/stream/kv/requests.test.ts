import { equal, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Msg } from '@nats-io/transport-node';
import type { StreamConnection } from '../../../src/stream/connection.ts';
import { Requests } from '../../../src/stream/kv/requests.ts';

type Callback = (fault: Error | null, message: Msg) => void;

describe('requests over one subscription', () => {
  it('fail when the server refuses the subscription, and the next one subscribes anew', async () => {
    const callbacks: Callback[] = [];
    let reply = '';
    const nats = {
      subscribe: (_: string, { callback }: { callback: Callback }) => callbacks.push(callback),
      publish: (_: string, __: string, options: { reply: string }) => {
        reply = options.reply;
      },
    };
    const connection = { nats, onStateChange: () => () => undefined } as unknown as StreamConnection;
    const requests = new Requests(connection);
    const refused = [requests.ask('a', ''), requests.ask('b', '')];
    callbacks[0]?.(new Error('no permission'), {} as Msg);
    for (const request of refused) await rejects(request, /no permission/);
    const answered = requests.ask('c', '');
    const answer = { subject: reply } as Msg;
    equal(callbacks.length, 2);
    callbacks[1]?.(null, answer);
    equal(await answered, answer);
  });
});

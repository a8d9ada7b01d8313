/** /v1/alerts: from the rule and the messages of users to a signed webhook. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { alertBodySchema, firedDataSchema } from '../../src/alerts/body.ts';
import { alertDetailSchema, newAlertSchema, type NewAlert } from '../../src/alerts/service.ts';
import { Client } from '../support/client.ts';
import { CANCEL, PASSWORD } from '../support/conversations.ts';
import { eventually } from '../support/processes.ts';
import { startReceiver, verified, type Receiver } from '../support/receiver.ts';
import { shareTestService, type TestProject, type TestService } from '../support/service.ts';

let service: TestService;
let project: TestProject;
let client: Client;
let receiver: Receiver;
before(async () => {
  service = await shareTestService();
  project = await service.newProject();
  client = new Client(service.url, project.key);
  receiver = await startReceiver();
});
after(async () => {
  await service?.stop();
  await receiver?.close();
});

let paths = 0;

interface Made extends NewAlert {
  /** Where its messages arrive, and no other's. */
  readonly path: string;
}

async function make(instanceId: string, condition: object, more: object = {}): Promise<Made> {
  const path = `/hook/${(paths += 1)}`;
  const delivery = { url: `${receiver.url}${path}`, ...more };
  const { status, body } = await client.send('/v1/alerts', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ instanceId, name: 'Many cancellations', condition, delivery }),
  });
  equal(status, 201, JSON.stringify(body));
  return { ...newAlertSchema.parse(body), path };
}

async function say(instanceId: string, content: string): Promise<number> {
  const { position } = await client.ingest({
    instanceId,
    messages: [{ role: 'user', content, userId: 'ada' }],
  });
  return position;
}

describe('an alert on a count', () => {
  it('is posted once, signed, with the numbers that a query gives', async () => {
    const instanceId = await service.newInstance(project);
    const made = await make(instanceId, { kind: 'count', groupBy: 'TOPIC', window: 'DAY', atLeast: 4 });
    for (const content of CANCEL) await say(instanceId, content);
    const [message, ...others] = await receiver.until(made.path, 1);
    ok(message !== undefined);
    const body = alertBodySchema.parse(verified(made.secret, message));
    const data = firedDataSchema.parse(body.data);
    equal(body.type, 'alert.fired');
    equal(data.alert.id, made.alert.id);
    const rows = await client.rows({ instanceId, groupBy: 'TOPIC', fields: 'sessions' });
    deepEqual(
      rows.map(({ dimensions, fields }) => ({ ...dimensions.topic, sessions: fields.sessions })),
      [
        {
          id: data.entity?.id,
          name: data.entity?.name,
          clusterId: rows[0]?.dimensions.topic?.clusterId,
          sessions: data.value,
        },
      ],
    );
    match(data.text, /^‘.+’ came up in 4 conversations today; the alert is set to 4\. Period: \w+day, /);
    equal(data.link, `/?instance=${instanceId}&view=topic&id=${data.entity?.id}`);

    // It goes on coming up, and other things do; nobody is told again.
    const position = await say(instanceId, CANCEL[0]);
    await say(instanceId, PASSWORD[0]);
    ok(data.position < position);
    await eventually(
      async () => {
        const { body: detail } = await client.send(`/v1/alerts/${made.alert.id}?instanceId=${instanceId}`);
        return alertDetailSchema.parse(detail).deliveries[0]?.state === 'delivered';
      },
      () => 'the message is not noted as delivered',
    );
    deepEqual(others, []);
    equal((await receiver.until(made.path, 1)).length, 1);
  });
});

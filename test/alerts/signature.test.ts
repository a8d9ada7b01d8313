import { equal, match, notEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { newSecret, signedHeaders } from '../../src/alerts/signature.ts';

describe('signatures', () => {
  const body = '{"text":"‘Čancel’ & more"}';

  it('are those of the Standard Webhooks specification', () => {
    const secret = newSecret();
    const headers = signedHeaders(secret, {
      id: 'f0000000-0000-5000-8000-000000000001',
      at: Date.now(),
      body,
    });
    new Webhook(secret).verify(body, headers);
    throws(() => new Webhook(secret).verify(`${body} `, headers));
    throws(() => new Webhook(newSecret()).verify(body, headers));
    throws(() => new Webhook(secret).verify(body, { ...headers, 'webhook-id': 'another' }));
  });

  it('have the time of the attempt in whole seconds', () => {
    const headers = signedHeaders(newSecret(), { id: 'x', at: 1_700_000_000_999, body });
    equal(headers['webhook-timestamp'], '1700000000');
    match(headers['webhook-signature'], /^v1,[A-Za-z0-9+/]{43}=$/);
  });

  it('take secrets that nobody can guess', () => {
    match(newSecret(), /^whsec_[A-Za-z0-9+/]{43}=$/);
    notEqual(newSecret(), newSecret());
  });
});

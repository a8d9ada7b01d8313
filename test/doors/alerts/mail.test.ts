import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { contentOf, render } from '../../../src/doors/alerts/body.ts';
import { createMail, faultOfMail, isMail, recipientsOf } from '../../../src/doors/alerts/mail.ts';
import { PostError } from '../../../src/doors/alerts/post.ts';
import { firing, NOW, rule } from './builders.ts';

const TO = 'mailto:ada@example.com,bob@example.com';

describe('alerts by e-mail', () => {
  const received: { readonly to: readonly string[]; readonly text: string }[] = [];
  let answer: Error | null = null;
  let isSilent = false;
  let server: SMTPServer;
  let smtpUrl = '';

  before(async () => {
    server = new SMTPServer({
      authOptional: true,
      closeTimeout: 100,
      disabledCommands: ['STARTTLS'],
      onAuth: ({ password }, _, done) =>
        password === 'right' ? done(null, { user: 'ada' }) : done(new Error('no')),
      onData: (stream, session, done) => {
        const parts: Buffer[] = [];
        stream.on('data', (part: Buffer) => parts.push(part));
        stream.on('end', () => {
          if (isSilent) return;
          if (answer !== null) return done(answer);
          const to = session.envelope.rcptTo.map(({ address }) => address);
          received.push({ to, text: Buffer.concat(parts).toString() });
          done();
        });
      },
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    smtpUrl = `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  });
  after(() => new Promise<void>((closed) => server.close(closed)));
  beforeEach(() => {
    received.length = 0;
    answer = null;
    isSilent = false;
  });

  const send = (url: string, name = 'Many cancellations', timeoutMs = 5000, signal?: AbortSignal) => {
    const content = contentOf({ ...firing({ rule: rule({ name }) }), quotes: [], precision: null }, 7, NOW);
    return createMail({ smtpUrl: url, from: 'Undertone <undertone@example.com>' })(TO, {
      headers: { 'webhook-id': '019aa3f1-6f0c-7b32-9d55-3a0f6c2b7e10' },
      body: render(content, 'email', 'https://undertone.example.com').body,
      project: 'p',
      timeoutMs,
      signal: signal ?? new AbortController().signal,
    });
  };

  it('reach everybody who is named, as text and as HTML, with one id in all tries', async () => {
    deepEqual(await send(smtpUrl), { status: 250, retryAfterMs: null });
    const [mail] = received;
    deepEqual(mail?.to, ['ada@example.com', 'bob@example.com']);
    match(mail?.text ?? '', /^From: Undertone <undertone@example.com>/m);
    match(mail?.text ?? '', /^Subject: =\?UTF-8\?Q\?Many_cancellations/m);
    match(mail?.text ?? '', /^Message-ID: <019aa3f1-6f0c-7b32-9d55-3a0f6c2b7e10@undertone>/m);
    match(mail?.text ?? '', /^Content-Type: text\/plain/m);
    match(mail?.text ?? '', /^Content-Type: text\/html/m);
  });

  it('keep what a name holds in the subject and out of the head', async () => {
    await send(smtpUrl, 'A\r\nBcc: eve@example.com');
    const head = received[0]?.text.split('\r\n\r\n')[0] ?? '';
    ok(!/^Bcc:/im.test(head), head);
    deepEqual(received[0]?.to, ['ada@example.com', 'bob@example.com']);
  });

  it('say why a server did not take them, and never its password', async () => {
    answer = Object.assign(new Error('full'), { responseCode: 452 });
    await rejects(send(smtpUrl), (error: PostError) => {
      ok(error instanceof PostError);
      equal(error.message, 'the mail server answered 452');
      return true;
    });
    const wrong = smtpUrl.replace('://', '://ada:secret@');
    await rejects(send(wrong), (error: PostError) => !error.message.includes('secret'));
    await rejects(send('smtp://127.0.0.1:1'), /the mail server cannot be reached \(E/);
    await rejects(send('smtp://ada:se#cret@127.0.0.1'), (error: PostError) => {
      ok(error instanceof PostError);
      equal(JSON.stringify([error.message, error.cause ?? null]).includes('cret'), false);
      return true;
    });
  });

  it('end when they are broken off, and after their time', async () => {
    isSilent = true;
    const breaking = new AbortController();
    const broken = send(smtpUrl, 'Name', 60_000, breaking.signal);
    setTimeout(() => breaking.abort(), 100);
    await rejects(broken, PostError);
    await rejects(send(smtpUrl, 'Name', 300), /no answer within 0.3 seconds/);
  });

  it('go to addresses, ten at most, with nothing behind them', () => {
    ok(isMail(TO));
    equal(faultOfMail(TO), null);
    deepEqual(recipientsOf(TO), ['ada@example.com', 'bob@example.com']);
    for (const url of [
      'mailto:',
      'mailto:ada',
      'mailto:ada@',
      'mailto:ada@example.com?bcc=eve@example.com',
      'mailto:ada@example.com, bob@example.com',
      'mailto:"Ada" <ada@example.com>',
      'mailto:ada@example.com%0ABcc:eve@example.com',
      'mailto:ada@example.com\nBcc:eve@example.com',
      `mailto:${'a'.repeat(300)}@example.com`,
    ])
      match(faultOfMail(url) ?? '', /^must be addresses/, url);
    match(faultOfMail(`mailto:${Array(11).fill('a@example.com').join(',')}`) ?? '', /at most 10/);
  });
});

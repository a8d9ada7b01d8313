/** Messages by e-mail, through the operator's server. Covered by test/doors/alerts/mail.test.ts. */
import { PostError, type Post } from './post.ts';

export interface MailOptions {
  /** `smtp://` or `smtps://`, with user and password where the server wants them. */
  readonly smtpUrl: string;
  /** An address, or a name and an address: `Undertone <undertone@example.com>`. */
  readonly from: string;
}

/** What is sent: the body of a message of format `email`. */
export interface MailBody {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const SCHEME = 'mailto:';
const MOST_RECIPIENTS = 10;
const LONGEST_ADDRESS = 254;
const ADDRESS = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z\d](?:[a-z\d.-]*[a-z\d])?$/i;

/** Whether an alert's URL names people rather than a receiver of webhooks. */
export function isMail(url: string): boolean {
  return url.startsWith(SCHEME);
}

/** The addresses of `mailto:ada@example.com,bob@example.com`. */
export function recipientsOf(url: string): readonly string[] {
  return url.slice(SCHEME.length).split(',');
}

/** Why nothing can be mailed to it; null when it can. */
export function faultOfMail(url: string): string | null {
  const recipients = recipientsOf(url);
  if (recipients.length > MOST_RECIPIENTS) return `must name at most ${MOST_RECIPIENTS} addresses`;
  const wrong = recipients.some((address) => address.length > LONGEST_ADDRESS || !ADDRESS.test(address));
  return wrong ? 'must be addresses with commas between them, such as mailto:ada@example.com' : null;
}

/**
 * Posts to `mailto:` URLs. Rejects with PostError when the server did not take it within the time; an address that it
 * refuses beside others that it takes gets nothing.
 */
export function createMail({ smtpUrl, from }: MailOptions): Post {
  return async (url, { headers, body, timeoutMs, signal }) => {
    const { subject, text, html } = JSON.parse(body) as MailBody;
    const ended = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const limits = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
    let close = (): void => undefined;
    try {
      // Most installations send none.
      const { createTransport } = await import('nodemailer');
      const transport = createTransport({ url: smtpUrl, ...limits }, { from });
      close = () => transport.close();
      const sending = transport.sendMail({
        // As lists, nothing in an address is read as more of them.
        to: recipientsOf(url).map((address) => ({ name: '', address })),
        subject,
        text,
        html,
        messageId: `<${headers['webhook-id']}@undertone>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      await untilEnded(sending, ended);
      return { status: SENT, retryAfterMs: null };
    } catch (error) {
      // Without its cause, which may hold the address of the server with its password.
      throw new PostError(
        ended.aborted && !signal.aborted ? `no answer within ${timeoutMs / 1000} seconds` : reasonOf(error),
      );
    } finally {
      close();
    }
  };
}

/** What SMTP answers when a message is taken. */
const SENT = 250;

async function untilEnded(sending: Promise<unknown>, ended: AbortSignal): Promise<void> {
  let stop = (): void => undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(ended.reason as Error);
  });
  ended.addEventListener('abort', stop, { once: true });
  try {
    ended.throwIfAborted();
    await Promise.race([sending, stopped]);
  } finally {
    ended.removeEventListener('abort', stop);
    sending.catch(() => undefined);
  }
}

/** It never holds the address of the server, which may hold a password. */
function reasonOf(error: unknown): string {
  const { responseCode, code = '' } = error as { readonly responseCode?: number; readonly code?: string };
  if (code === 'EAUTH') return 'the mail server did not accept user and password';
  if (responseCode !== undefined) return `the mail server answered ${responseCode}`;
  return `the mail server cannot be reached${code === '' ? '' : ` (${code})`}`;
}

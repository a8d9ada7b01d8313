/**
 * Sends messages by e-mail through the operator's SMTP server. Errors never contain the server's URL, which may hold a
 * password.
 *
 * Test: test/doors/alerts/mail.test.ts.
 */
import { PostError, type Post } from './post.ts';

export interface MailOptions {
  /** `smtp://` or `smtps://`, with user and password if the server requires them. */
  readonly smtpUrl: string;
  /** An address, or a name and an address: `Undertone <undertone@example.com>`. */
  readonly from: string;
}

/** Body of a message of format `email`. */
export interface MailBody {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const SCHEME = 'mailto:';
const MOST_RECIPIENTS = 10;
const LONGEST_ADDRESS = 254;
const ADDRESS = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z\d](?:[a-z\d.-]*[a-z\d])?$/i;

/** True for `mailto:` URLs. */
export function isMail(url: string): boolean {
  return url.startsWith(SCHEME);
}

/** Returns the addresses of `mailto:ada@example.com,bob@example.com`. */
export function recipientsOf(url: string): readonly string[] {
  return url.slice(SCHEME.length).split(',');
}

/** Returns the fault of a `mailto:` URL, or null. */
export function faultOfMail(url: string): string | null {
  const recipients = recipientsOf(url);
  if (recipients.length > MOST_RECIPIENTS) return `must name at most ${MOST_RECIPIENTS} addresses`;
  const wrong = recipients.some((address) => address.length > LONGEST_ADDRESS || !ADDRESS.test(address));
  return wrong ? 'must be addresses with commas between them, such as mailto:ada@example.com' : null;
}

/**
 * Creates the sender for `mailto:` URLs. Rejects with PostError if the server does not accept the message in time; an
 * address that it refuses beside accepted ones gets nothing.
 */
export function createMail({ smtpUrl, from }: MailOptions): Post {
  return async (url, { headers, body, timeoutMs, signal }) => {
    const { subject, text, html } = JSON.parse(body) as MailBody;
    const ended = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const limits = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
    let close = (): void => undefined;
    try {
      // Loaded on demand: most installations send no mail.
      const { createTransport } = await import('nodemailer');
      const transport = createTransport({ url: smtpUrl, ...limits }, { from });
      close = () => transport.close();
      const sending = transport.sendMail({
        // As objects, so that no address is parsed as several.
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
      // Without the cause, which may contain the server's URL with its password.
      throw new PostError(
        ended.aborted && !signal.aborted ? `no answer within ${timeoutMs / 1000} seconds` : reasonOf(error),
      );
    } finally {
      close();
    }
  };
}

/** SMTP status of an accepted message. */
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

/** Describes the error without the server's URL. */
function reasonOf(error: unknown): string {
  const { responseCode, code = '' } = error as { readonly responseCode?: number; readonly code?: string };
  if (code === 'EAUTH') return 'the mail server did not accept user and password';
  if (responseCode !== undefined) return `the mail server answered ${responseCode}`;
  return `the mail server cannot be reached${code === '' ? '' : ` (${code})`}`;
}

/**
 * Reads Zendesk tickets with their comments: the full JSON export, or a ticket of the API beside its comments.
 * Source: support.zendesk.com "Exporting ticket, user, or organization data from your account";
 * developer.zendesk.com/api-reference/ticketing/tickets/ticket_comments/.
 *
 * Test: test/doors/import/zendesk-comments.test.ts.
 */
import { OmissionCounts } from '../../traces/omissions.ts';
import { isObject, textOf } from '../../traces/values.ts';
import {
  byShare,
  objectsOf,
  shareOf,
  unlessThin,
  type EntryFormat,
  type Reading,
  type Turn,
} from './format.ts';
import { htmlText } from './html.ts';

export const zendesk: EntryFormat = {
  kind: 'entries',
  name: 'zendesk',
  title: 'Zendesk tickets',
  recognise({ values }) {
    const recognition = byShare(
      shareOf(values, isTicket),
      0.95,
      'entries have a requester, and comments or a description',
    );
    const isThin = shareOf(values, (value) => 'comments' in value || 'comments' in ticketOf(value)) === 0;
    return unlessThin(
      recognition,
      isThin,
      'none has comments, so every answer is missing; add the comments of each ticket, or use the full JSON export',
    );
  },
  read(value): Reading {
    if (!isObject(value)) return { fault: 'not a JSON object' };
    const ticket = ticketOf(value);
    const requester = requesterOf(ticket);
    if (requester === undefined) return { fault: 'requester_id: missing; it says who asks' };
    const customers = new Set([
      requester,
      ...(Array.isArray(ticket['collaborator_ids']) ? ticket['collaborator_ids'].map(String) : []),
      ...objectsOf(value['users']).flatMap((user) =>
        user['role'] === 'end-user' ? [String(user['id'])] : [],
      ),
    ]);
    const team = new Set(
      objectsOf(value['users']).flatMap((user) =>
        user['role'] === 'agent' || user['role'] === 'admin' ? [String(user['id'])] : [],
      ),
    );
    const omitted = new OmissionCounts();
    const turns: Turn[] = [];
    for (const comment of commentsOf(value, ticket, requester)) {
      const content = textOfComment(comment);
      const author = textOf(comment['author_id']) ?? idIn(comment['author']);
      const isCustomer = author !== undefined && customers.has(author) && !team.has(author);
      if (comment['public'] === false) omitted.add('internal note');
      else if (content === '') omitted.add('message without text');
      else
        turns.push({
          role: isCustomer ? 'user' : 'assistant',
          content,
          ...(typeof comment['created_at'] === 'string' ? { createdAt: comment['created_at'] } : {}),
          ...(isCustomer ? { userId: author } : {}),
        });
    }
    const subject = textOf(ticket['subject']);
    return {
      line: {
        id: textOf(ticket['id']),
        source: 'zendesk',
        turns,
        ...(subject === undefined ? {} : { metadata: { subject } }),
      },
      omitted: omitted.all,
    };
  },
};

/** True if the ticket has a requester, and comments or a description. */
export function isTicket(value: Record<string, unknown>): boolean {
  const ticket = ticketOf(value);
  return requesterOf(ticket) !== undefined && ('comments' in value || 'description' in ticket);
}

/** The API returns the ticket in the member `ticket`. */
export function ticketOf(value: Record<string, unknown>): Record<string, unknown> {
  return isObject(value['ticket']) ? value['ticket'] : value;
}

function requesterOf(ticket: Record<string, unknown>): string | undefined {
  return textOf(ticket['requester_id']) ?? idIn(ticket['requester']);
}

function idIn(value: unknown): string | undefined {
  return isObject(value) ? textOf(value['id']) : undefined;
}

/** Uses the description only without comments: it repeats the first one. */
function commentsOf(
  value: Record<string, unknown>,
  ticket: Record<string, unknown>,
  requester: string,
): Record<string, unknown>[] {
  const comments = objectsOf(value['comments'] ?? ticket['comments']);
  if (comments.length > 0) return comments;
  const { description, created_at: at } = ticket;
  return [{ author_id: requester, plain_body: description, created_at: at }];
}

function textOfComment({ plain_body: plain, body, html_body: html }: Record<string, unknown>): string {
  const text = textOf(plain) ?? textOf(body);
  // A plain body still contains `&nbsp;` from its HTML.
  if (text !== undefined) return (plain === text ? text.replaceAll('&nbsp;', ' ') : text).trim();
  return typeof html === 'string' ? htmlText(html) : '';
}

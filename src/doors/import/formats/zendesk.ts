/**
 * Reads Zendesk tickets with their comments: the full JSON export, or a ticket of the API beside its comments.
 * Source: support.zendesk.com "Exporting ticket, user, or organization data from your account";
 * developer.zendesk.com/api-reference/ticketing/tickets/ticket_comments/.
 *
 * Test: test/doors/import/zendesk-comments.test.ts.
 */
import { isObject, textOf } from '../../traces/values.ts';
import { byShare, conversations, objectsOf } from './format.ts';
import { htmlText } from './html.ts';

export const zendesk = conversations({
  name: 'zendesk',
  title: 'Zendesk tickets',
  recognise: byShare({
    holds: isTicket,
    confidence: 0.95,
    reason: 'entries have a requester, and comments or a description',
    needs: {
      isIn: (value) => 'comments' in value || 'comments' in ticketOf(value),
      otherwise:
        'none has comments, so every answer is missing; add the comments of each ticket, or use the full JSON export',
    },
  }),
  read(value) {
    const ticket = ticketOf(value);
    const requester = requesterOf(ticket);
    if (requester === undefined) return { fault: 'requester_id: missing; it says who asks' };
    const collaborators = ticket['collaborator_ids'];
    const customers = new Set([
      requester,
      ...(Array.isArray(collaborators) ? collaborators.map(String) : []),
      ...usersOf(value, ['end-user']),
    ]);
    const team = new Set(usersOf(value, ['agent', 'admin']));
    return {
      id: textOf(ticket['id']),
      source: 'zendesk',
      metadata: { subject: textOf(ticket['subject']) },
      messages: commentsOf(value, ticket, requester),
      turn(comment) {
        if (comment['public'] === false) return 'internal note';
        const { author_id: id, author: person, created_at: createdAt } = comment;
        const author = textOf(id) ?? idIn(person);
        const isCustomer = author !== undefined && customers.has(author) && !team.has(author);
        return {
          role: isCustomer ? 'user' : 'assistant',
          content: textOfComment(comment),
          createdAt: typeof createdAt === 'string' ? createdAt : undefined,
          userId: isCustomer ? author : undefined,
        };
      },
      faultAt: (index) => `comments.${index}: must be an object`,
    };
  },
});

/** Returns the ids of the users with one of these roles. */
function usersOf(value: Record<string, unknown>, roles: readonly unknown[]): string[] {
  return objectsOf(value['users']).flatMap(({ role, id }) => (roles.includes(role) ? [String(id)] : []));
}

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

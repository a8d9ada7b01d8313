/** What people call the columns of a table of messages: names as `plainName` writes them, most telling first. */
export const COLUMN_NAMES = {
  conversation: [
    'conversationid',
    'conversation',
    'sessionid',
    'session',
    'threadid',
    'thread',
    'chatid',
    'chat',
    'dialogueid',
    'dialogid',
    'dialogue',
    'convid',
    'convoid',
    'ticketid',
    'ticket',
    'caseid',
    'roomid',
    'callid',
  ],
  role: [
    'role',
    'sendertype',
    'authortype',
    'authorrole',
    'senderrole',
    'speaker',
    'sender',
    'from',
    'author',
  ],
  content: ['content', 'text', 'message', 'messagetext', 'body', 'messagebody', 'utterance', 'msg'],
  time: [
    'createdat',
    'timestamp',
    'sentat',
    'datetime',
    'time',
    'created',
    'createtime',
    'messagetime',
    'date',
    'ts',
  ],
  user: ['userid', 'enduserid', 'customerid', 'contactid', 'user', 'customer', 'username'],
  question: ['question', 'prompt', 'usermessage', 'userinput', 'query', 'instruction', 'request', 'input'],
  answer: [
    'answer',
    'response',
    'completion',
    'assistantmessage',
    'botresponse',
    'modelresponse',
    'reply',
    'output',
  ],
  turns: [
    'turns',
    'messages',
    'conversation',
    'dialogue',
    'utterances',
    'thread',
    'comments',
    'events',
    'chat',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** What a column may be to us: the names that `--map` takes. */
export type Field = keyof typeof COLUMN_NAMES;

export const FIELDS = Object.keys(COLUMN_NAMES) as readonly Field[];

/** `Conversation ID`, `conversation_id` and `conversationId` are one name. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

import type { WorkMark, WorkMarkFile } from '../../src/store/live/work-mark.ts';
import type { MessageNotes } from '../../src/stream/dead-letters/message-notes.ts';

/** Notes on messages, kept in memory: `requestId index`, with the reason. */
export class NotesInMemory implements Pick<MessageNotes, 'has' | 'add'> {
  readonly noted: Map<string, string>;

  constructor(noted: Iterable<readonly [string, string]> = []) {
    this.noted = new Map(noted);
  }

  has({ requestId, index }: Parameters<MessageNotes['has']>[0]): boolean {
    return this.noted.has(`${requestId} ${index}`);
  }

  add(...[, { request, index }, reason]: Parameters<MessageNotes['add']>): Promise<void> {
    this.noted.set(`${request.requestId} ${index}`, reason);
    return Promise.resolve();
  }
}

/** For tests in which nothing may be noted. */
export const NO_NOTES: Pick<MessageNotes, 'has' | 'add'> = {
  has: () => false,
  add: (...[, , reason]) => Promise.reject(new Error(reason)),
};

/** Marks of what is in work, kept in memory; what is given is what a process left behind that died. */
export class MarksInMemory implements Pick<WorkMarkFile, 'read' | 'write'> {
  mark: WorkMark | null = null;

  read(): WorkMark | null {
    return this.mark;
  }

  write(mark: WorkMark | null): void {
    this.mark = mark;
  }
}

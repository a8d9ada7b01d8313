import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** A name server on a port of its own. It never answers for names that it does not know. */
export interface NameServer {
  /** As `dns.setServers` takes it. */
  readonly address: string;
  /** Questions that came, `A hook.example`. */
  readonly asked: string[];
  close(): Promise<void>;
}

const TYPES: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' };

/** `addresses`: in hexadecimal, by type and name; `''`: the name has no address of this type. */
export async function startNameServer(addresses: Readonly<Record<string, string>>): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, { port, address }) => {
    let end = 12;
    const labels: string[] = [];
    for (let length = query[end] ?? 0; length > 0; length = query[end] ?? 0) {
      labels.push(query.toString('latin1', end + 1, end + 1 + length));
      end += 1 + length;
    }
    end += 5;
    const question = `${TYPES[query.readUInt16BE(end - 4)]} ${labels.join('.').toLowerCase()}`;
    asked.push(question);
    const answer = addresses[question];
    if (answer === undefined) return;
    const data = Buffer.from(answer, 'hex');
    // Recursion desired and available, no error; one question, and as many answers as there are.
    const head = Buffer.from('000081800001000000000000', 'hex');
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(data.length === 0 ? 0 : 1, 6);
    const record = Buffer.from('c00c00000001000000000000', 'hex');
    query.copy(record, 2, end - 4, end - 2);
    record.writeUInt16BE(data.length, 10);
    socket.send(
      Buffer.concat([head, query.subarray(12, end), ...(data.length === 0 ? [] : [record, data])]),
      port,
      address,
    );
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

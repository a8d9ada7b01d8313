import { equal, ok } from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { groupFinder, type CommonPart } from '../../../src/reader/embedding/common-parts.ts';
import { loadEmbedder, type Embedder } from '../../../src/reader/embedding/embedder.ts';

const MODELS = resolve(import.meta.dirname, '../../../models');
const FILE = join(MODELS, 'undertone-small', 'common-parts.json');

describe('groupFinder', () => {
  const groupOf = groupFinder([
    { letters: 'گچ' },
    { script: 'Arabic' },
    { script: 'Hangul' },
    { letters: 'ğış' },
  ]);

  it('tells texts by their script, and by letters that no other language has', () => {
    equal(groupOf('أين طلبي؟'), 1);
    equal(groupOf('سفارش من کجاست؟ چرا نیامده'), 0);
    equal(groupOf('주문을 취소해 주세요'), 2);
    equal(groupOf('Siparişim nerede'), 3);
    for (const text of [
      'where is my order',
      'où est ma commande ?',
      'где мой заказ',
      '注文はどこ',
      '',
      '1234 €',
    ])
      equal(groupOf(text), -1, text);
  });

  it('follows most of the letters', () => {
    equal(groupOf('iPhone 15 주문을 취소해 주세요'), 2);
    equal(groupOf('please translate 안녕 into English'), -1);
  });
});

describe('an embedder with common parts', () => {
  let folder = '';
  let [plain, freed]: (Embedder | undefined)[] = [];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'undertone-'));
    cpSync(join(MODELS, 'undertone-small'), join(folder, 'without'), { recursive: true });
    rmSync(join(folder, 'without', 'common-parts.json'));
    plain = await loadEmbedder({ model: 'without', modelsDirectory: folder });
    freed = await loadEmbedder({ model: 'undertone-small', modelsDirectory: MODELS });
  });
  after(async () => {
    await plain?.close();
    await freed?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function cosine(embedder: Embedder, a: string, b: string): Promise<number> {
    const [x, y] = await embedder.embed([a, b]);
    return x!.reduce((sum, value, at) => sum + value * y![at]!, 0);
  }

  it('finds unrelated requests of a script less alike, and related ones still', async () => {
    const [cancel, hours, again] = ['أريد إلغاء الطلب', 'متى تفتحون المحل', 'من فضلك إلغاء طلبي'];
    ok((await cosine(freed!, cancel, hours)) < (await cosine(plain!, cancel, hours)) - 0.1);
    ok((await cosine(freed!, cancel, again)) > (await cosine(freed!, cancel, hours)) + 0.2);
  });

  it('leaves other texts as they are, and has an id of its own', async () => {
    const [[x], [y]] = await Promise.all([
      plain!.embed(['où est ma commande']),
      freed!.embed(['où est ma commande']),
    ]);
    ok(x!.every((value, at) => value === y![at]));
    ok(plain!.id.split('@')[1] !== freed!.id.split('@')[1]);
  });

  it('refuses a vector of another length', async () => {
    const parts = JSON.parse(readFileSync(FILE, 'utf8')) as CommonPart[];
    const short = parts.map((part) => ({ ...part, vector: part.vector.slice(1) }));
    writeFileSync(join(folder, 'without', 'common-parts.json'), JSON.stringify(short));
    await loadEmbedder({ model: 'without', modelsDirectory: folder }).then(
      () => ok(false),
      (error: Error) => ok(error.message.includes('common-parts.json'), error.message),
    );
  });
});

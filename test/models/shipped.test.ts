import { deepEqual, equal, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Pieces, tokenizerFile, UNKNOWN } from '../../tools/train/pieces.ts';
import { loadEmbedder, type Embedder } from '../../src/reader/embedding/embedder.ts';

const models = resolve(import.meta.dirname, '../../models');
const folder = join(models, 'undertone-small');
const gold = resolve(import.meta.dirname, '../gold');

function json<T>(name: string): T {
  return JSON.parse(readFileSync(join(folder, name), 'utf8')) as T;
}

function vocabulary(): string[] {
  const { model } = json<{ model: { vocab: Record<string, number> } }>('tokenizer.json');
  return Object.entries(model.vocab)
    .toSorted((a, b) => a[1] - b[1])
    .map(([piece]) => piece);
}

describe('the model that ships', () => {
  let embedder: Embedder;
  before(async () => {
    embedder = await loadEmbedder({ model: 'undertone-small', modelsDirectory: models });
  });
  after(() => embedder.close());

  async function cosine(a: string, b: string): Promise<number> {
    const [x, y] = await embedder.embed([a, b]);
    return x!.reduce((sum, value, i) => sum + value * y![i]!, 0);
  }

  it('is the one that training.json speaks of, without a set left out', () => {
    const { sha256, leftOut } = json<{ sha256: string; leftOut: string[] }>('training.json');
    const weights = readFileSync(join(folder, 'onnx/model_quantized.onnx'));
    equal(createHash('sha256').update(weights).digest('hex'), sha256);
    deepEqual(leftOut, []);
  });

  it('takes no more than 12 MB', () => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const bytes = files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
    ok(bytes <= 12e6, String(bytes));
  });

  it('has a tokenizer that is the one of this recipe', () => {
    const ours = `${JSON.stringify(tokenizerFile(vocabulary()))}\n`;
    ok(readFileSync(join(folder, 'tokenizer.json'), 'utf8') === ours);
  });

  it('knows the letters of every supported language', () => {
    const pieces = new Pieces(vocabulary());
    const texts = [
      '¿Podría cancelar mi suscripción mañana? El niño y la cigüeña',
      'Où est ma commande n°5, s’il vous plaît ? Œuvre, garçon, être, naïf, ça',
      'Wie kann ich mein Konto löschen? Größe, Übung, Äpfel',
      'Não consigo acessar a minha conta, vocês são ótimos à noite',
      'Perché il pagamento è stato rifiutato? Così è più città',
      'Waar blijft mijn bestelling? Eén coördinatie',
      'Где мой заказ? Подъезд, ёлка, щётка, чай, хлеб, фыркнул, эхо, цыплёнок, шюц, йод',
      '我想取消我的订单，请问怎么退款？',
      '注文をキャンセルしたいのですが、どうすればいいですか。ヴァイオリン',
    ];
    for (const text of texts) ok(!pieces.ofText(text, 1000).includes(UNKNOWN), text);
  });

  it('puts other wordings, casings and typing errors near', async () => {
    const unrelated = await cosine('I want to cancel my booking', 'what is the weather like tomorrow');
    ok((await cosine('I want to cancel my booking', 'please cancel my reservation')) > unrelated + 0.3);
    ok((await cosine('I WANT TO CANCEL MY BOOKING', 'i want to cancel my booking')) > 0.999);
    ok((await cosine('i want to cancel my bookign', 'i want to cancel my booking')) > unrelated + 0.4);
  });

  it('puts the same request in another language nearer than another request in the same', async () => {
    const english = 'I forgot my password';
    const others: Readonly<Record<string, string>> = {
      es: 'Olvidé mi contraseña',
      fr: "J'ai oublié mon mot de passe",
      de: 'Ich habe mein Passwort vergessen',
      pt: 'Esqueci minha senha',
      it: 'Ho dimenticato la password',
      nl: 'Ik ben mijn wachtwoord vergeten',
      ru: 'Я забыл пароль',
      zh: '我忘记了密码',
      ja: 'パスワードを忘れました',
    };
    const other = await cosine(english, 'where is my parcel');
    for (const [language, text] of Object.entries(others))
      ok((await cosine(english, text)) > other + 0.15, `${language}: ${text}`);
  });

  it('finds requests in its languages familiar, and hardly any in others', async () => {
    const share = async (file: string, languages: string): Promise<number> => {
      const lines = readFileSync(join(gold, file), 'utf8').trim().split('\n');
      const texts = lines
        .map((line) => JSON.parse(line) as { lang: string; text: string })
        .filter(({ lang }) => languages.split(' ').includes(lang))
        .map(({ text }) => text);
      const read = await embedder.read(texts);
      return read.filter(({ isFamiliar }) => isFamiliar).length / texts.length;
    };
    ok((await share('topic-languages.jsonl', 'en de es fr it ja nl pl pt ru zh')) >= 0.99);
    ok((await share('topic-unknown-languages.jsonl', 'bn el eu fi he hi hu hy id ka sv sw ta vi')) <= 0.1);
  });
});

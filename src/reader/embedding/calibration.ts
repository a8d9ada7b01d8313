/**
 * Calibrates a model without thresholds: removes the common part from its vectors, and guesses thresholds, which each
 * instance's own messages correct later.
 *
 * Test: test/reader/embedding/embedder.test.ts.
 */
import type { Thresholds } from '../../domain/model-thresholds.ts';

/** Ten requests in two wordings each; neighbours (0 and 1, 2 and 3, …) mean the same. */
export const PROBES: readonly string[] = [
  'I want to cancel my hotel booking',
  'please cancel the reservation of my room',
  'my parcel has not arrived yet',
  'the delivery of my package is late',
  'how do I reset my password',
  'I forgot my password and need a new one',
  'I would like to book a table for two tonight',
  'can you reserve a table at a restaurant for this evening',
  'why was my card declined at the shop',
  'my card payment was refused',
  'what will the weather be like tomorrow',
  'is it going to rain tomorrow',
  'play some jazz music',
  'put on a jazz song',
  'I need a copy of my last invoice',
  'send me the invoice of last month',
  'the app crashes when I open it',
  'the application closes as soon as I start it',
  'how much does it cost to ship to Canada',
  'what are the shipping fees for Canada',
];

/** Four requests in each language, in the same order. */
export const REQUESTS: Readonly<Record<string, readonly [string, string, string, string]>> = {
  en: [
    'I want to cancel my order',
    'What will the weather be like tomorrow?',
    'I forgot my password',
    'Where is my parcel?',
  ],
  es: [
    'Quiero cancelar mi pedido',
    '¿Qué tiempo hará mañana?',
    'He olvidado mi contraseña',
    '¿Dónde está mi paquete?',
  ],
  fr: [
    'Je veux annuler ma commande',
    'Quel temps fera-t-il demain ?',
    "J'ai oublié mon mot de passe",
    'Où est mon colis ?',
  ],
  de: [
    'Ich möchte meine Bestellung stornieren',
    'Wie wird das Wetter morgen?',
    'Ich habe mein Passwort vergessen',
    'Wo ist mein Paket?',
  ],
  pt: [
    'Quero cancelar o meu pedido',
    'Como vai estar o tempo amanhã?',
    'Esqueci a minha senha',
    'Onde está a minha encomenda?',
  ],
  it: [
    'Voglio annullare il mio ordine',
    'Che tempo farà domani?',
    'Ho dimenticato la password',
    "Dov'è il mio pacco?",
  ],
  nl: [
    'Ik wil mijn bestelling annuleren',
    'Wat voor weer wordt het morgen?',
    'Ik ben mijn wachtwoord vergeten',
    'Waar is mijn pakket?',
  ],
  ru: ['Я хочу отменить заказ', 'Какая завтра будет погода?', 'Я забыл пароль', 'Где моя посылка?'],
  zh: ['我想取消我的订单', '明天天气怎么样？', '我忘记了密码', '我的包裹在哪里？'],
  ja: [
    '注文をキャンセルしたい',
    '明日の天気はどうですか',
    'パスワードを忘れました',
    '荷物はどこにありますか',
  ],
};

/**
 * Mean similarity of probes with the same meaning, and with different ones, under the default model
 * (`undertone-small`).
 */
const REFERENCE = { same: 0.627, different: -0.019 };
const REFERENCE_THRESHOLDS: Thresholds = { micro: 0.66, topic: 0.42, cluster: 0.26, repeated: 0.6 };
/**
 * Median cosine of random pairs of an instance's requests, under the model before the default one; 0.00 to 0.08 on six
 * sets.
 */
const BACKGROUND = 0.035;
/**
 * Bounds of the stretch. A model that finds two wordings hardly alike knows no English, or nothing: the guess is then
 * worthless.
 */
const STRETCH = [0.8, 1.25] as const;
const MOST = 0.95;

/** Mean cosine of probe pairs with the same meaning, and with different ones. `vectors`: of `PROBES`, unit length. */
function probeSimilarities(vectors: readonly Float32Array[]): { same: number; different: number } {
  let same = 0;
  let sameCount = 0;
  let different = 0;
  let differentCount = 0;
  for (let i = 0; i < vectors.length; i++) {
    for (let j = i + 1; j < vectors.length; j++) {
      const similarity = dot(vectors[i], vectors[j]);
      if (j === i + 1 && i % 2 === 0) {
        same += similarity;
        sameCount += 1;
      } else {
        different += similarity;
        differentCount += 1;
      }
    }
  }
  return { same: same / sameCount, different: different / differentCount };
}

/**
 * The mean vector of texts of many kinds and languages: the part that all texts share. In most transformers it is
 * large, so that all cosines are near 1; without it, unrelated texts have a cosine near 0 (Mu & Viswanath 2018,
 * "All-but-the-Top").
 */
export function commonPart(vectors: readonly Float32Array[]): Float32Array {
  const sum = new Float64Array(vectors[0]?.length ?? 0);
  for (const vector of vectors)
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (vector[i] ?? 0);
  return Float32Array.from(sum, (x) => x / vectors.length);
}

/**
 * Guesses thresholds: the default ones, stretched by how similar this model finds two wordings of one request, within
 * bounds. `vectors`: of `PROBES`, without the common part.
 */
export function calibrate(vectors: readonly Float32Array[]): Thresholds {
  const own = probeSimilarities(vectors);
  const [least, most] = STRETCH;
  const stretch = (own.same - own.different) / (REFERENCE.same - REFERENCE.different);
  const scale = Math.min(most, Math.max(least, Number.isFinite(stretch) ? stretch : 1));
  const map = (threshold: number): number => Math.min(MOST, threshold * scale);
  return {
    micro: map(REFERENCE_THRESHOLDS.micro),
    topic: map(REFERENCE_THRESHOLDS.topic),
    cluster: map(REFERENCE_THRESHOLDS.cluster),
    repeated: map(REFERENCE_THRESHOLDS.repeated),
    background: BACKGROUND,
  };
}

function dot(a: Float32Array | undefined, b: Float32Array | undefined): number {
  let sum = 0;
  if (a === undefined || b === undefined) return sum;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

/**
 * Texts that make a backtracking regular expression work hardest, from its own structure: for each repetition
 * a way to reach it, what it repeats many times over, and an end that it cannot match.
 */
import { parseRegExpLiteral, type AST } from '@eslint-community/regexpp';

type Node = AST.Element | AST.Alternative | AST.Pattern;

/** Members of character sets are chosen from these and from the characters that the pattern itself names. */
const PALETTE = 'a1 .,!?\'-\n_@)яü你の안\u0301"s';
/** What ends a text, or what is repeated together with a pump. */
const ENDS = ['x', ' 1', '~'];
const MOST_SAMPLES = 96;
/** Of a character set so many members that stand near it in the pattern, and so many of the palette. */
const MOST_NEAR = 2;
const MOST_OTHERS = 3;

/** Short texts, each of which is repeated; `prefix` comes before them once. */
export interface Pump {
  readonly prefix: string;
  readonly body: string;
  readonly suffix: string;
}

/** Lays a pump out as a text of about `length` UTF-16 units. */
export function pumped({ prefix, body, suffix }: Pump, length: number): string {
  return prefix + body.repeat(Math.max(1, Math.ceil((length - prefix.length) / body.length))) + suffix;
}

/** The pumps of a pattern, without doubles, in a fixed order: one list for each of its repetitions. */
export function pumpsOf(source: string, flags: string): Pump[][] {
  const { pattern } = parseRegExpLiteral(new RegExp(source, flags));
  const sampler = new Sampler(flags);
  return [...repetitions(pattern, sampler)].map((repetition) => pumpsOfRepetition(repetition, sampler));
}

function pumpsOfRepetition({ prefix, quantifier, following }: Repetition, sampler: Sampler): Pump[] {
  const pumps = new Map<string, Pump>();
  const add = (first: string, body: string, suffix: string): void => {
    if (body !== '') pumps.set(`${first}\0${body}\0${suffix}`, { prefix: first, body, suffix });
  };
  const bodies = sampler.of(quantifier.element);
  const after = following.flatMap((node) => sampler.of(node).slice(0, 2)).filter((text) => text !== '');
  // What follows, spoiled: the repetition is left only to be tried again.
  const spoiled = after.flatMap((text) => [`${text}x`, `${text}1`]);
  const times = Math.min(quantifier.max, 16);
  for (const [index, body] of [...bodies, ...after, ...after.map((text) => bodies[0]! + text)].entries()) {
    for (const end of index < 3 ? [...ENDS, '', ...spoiled] : ENDS) {
      add(prefix, body, end);
      add('', prefix + body.repeat(times) + end, '');
    }
    add('', prefix + body.repeat(2), '');
  }
  return [...pumps.values()];
}

/** Texts that parts of a pattern match, the plainest first. Assertions count as empty. */
class Sampler {
  readonly #flags: string;
  readonly #known = new Map<Node, readonly string[]>();

  constructor(flags: string) {
    this.#flags = flags.replace(/[gy]/g, '');
  }

  of(node: Node): readonly string[] {
    let samples = this.#known.get(node);
    if (samples === undefined) {
      samples = [...new Set(this.#sample(node))].slice(0, MOST_SAMPLES);
      this.#known.set(node, samples);
    }
    return samples;
  }

  #sample(node: Node): readonly string[] {
    switch (node.type) {
      case 'Pattern':
      case 'Group':
      case 'CapturingGroup':
        return node.alternatives.flatMap((alternative) => this.of(alternative));
      case 'Alternative':
        return this.#sequence(node.elements);
      case 'Quantifier': {
        const once = this.of(node.element);
        const least = (once[0] ?? '').repeat(Math.min(node.min, 16));
        const more = node.max > 1 ? [(once[0] ?? '').repeat(Math.max(2, Math.min(node.min, 16)))] : [];
        return [least, ...once, ...more];
      }
      case 'Character':
        return [node.raw.startsWith('\\') ? String.fromCodePoint(node.value) : node.raw];
      case 'CharacterSet':
      case 'CharacterClass':
      case 'ExpressionCharacterClass':
        return this.#membersOf(node);
      case 'Assertion':
      case 'Backreference':
        return [''];
    }
  }

  /** The plainest of each, then each other choice of one of them. */
  #sequence(elements: readonly AST.Element[]): readonly string[] {
    const choices = elements.map((element) => this.of(element));
    const plain = choices.map((samples) => samples[0] ?? '');
    const sequences = [plain.join('')];
    choices.forEach((samples, at) => {
      for (const sample of samples.slice(1)) sequences.push(plain.with(at, sample).join(''));
    });
    return sequences;
  }

  #membersOf(node: AST.CharacterSet | AST.CharacterClass | AST.ExpressionCharacterClass): readonly string[] {
    const isMember = new RegExp(`^${node.raw}$`, this.#flags);
    const members = (characters: Iterable<string>, most: number): string[] =>
      [...new Set(characters)].filter((character) => isMember.test(character)).slice(0, most);
    return [...members(charactersOf(sequenceAround(node)), MOST_NEAR), ...members(PALETTE, MOST_OTHERS)];
  }
}

/** The sequence that a node belongs to. */
function sequenceAround(node: AST.Node): AST.Alternative | AST.Pattern {
  let around = node;
  while (around.type !== 'Alternative' && around.type !== 'Pattern' && around.parent !== null)
    around = around.parent;
  return around as AST.Alternative | AST.Pattern;
}

function* charactersOf(node: Node): Iterable<string> {
  if (node.type === 'Character') yield String.fromCodePoint(node.value);
  for (const part of partsOf(node)) yield* charactersOf(part);
  if (node.type === 'CharacterClass') {
    for (const element of node.elements) {
      if (element.type === 'Character') yield String.fromCodePoint(element.value);
      if (element.type === 'CharacterClassRange') yield String.fromCodePoint(element.min.value);
    }
  }
}

function partsOf(node: Node): readonly Node[] {
  switch (node.type) {
    case 'Pattern':
    case 'Group':
    case 'CapturingGroup':
      return node.alternatives;
    case 'Alternative':
      return node.elements;
    case 'Quantifier':
      return [node.element];
    case 'Assertion':
      return node.kind === 'lookahead' || node.kind === 'lookbehind' ? node.alternatives : [];
    default:
      return [];
  }
}

interface Repetition {
  /** The plainest text that leads to it. */
  readonly prefix: string;
  readonly quantifier: AST.Quantifier;
  /** What stands behind it in its sequence. */
  readonly following: readonly AST.Element[];
}

function* repetitions(
  node: Node,
  sampler: Sampler,
  prefix = '',
  following: readonly AST.Element[] = [],
): Iterable<Repetition> {
  if (node.type === 'Quantifier' && node.max > 1) yield { prefix, quantifier: node, following };
  if (node.type === 'Alternative') {
    let before = prefix;
    for (const [index, element] of node.elements.entries()) {
      yield* repetitions(
        element,
        sampler,
        before,
        [...node.elements.slice(index + 1), ...following].slice(0, 2),
      );
      before += sampler.of(element)[0] ?? '';
    }
    return;
  }
  for (const part of partsOf(node)) yield* repetitions(part, sampler, prefix, following);
}

/** A small reader of PromQL: which metrics and labels an expression names. It does not check types. */

export interface NamedMetric {
  readonly name: string;
  /** Labels in its selector. */
  readonly labels: readonly string[];
  /** What the selector compares each label with. */
  readonly values: Readonly<Record<string, string>>;
}

export interface Named {
  readonly metrics: readonly NamedMetric[];
  /** Labels of `by`, `without`, `on`, `ignoring` and `group_…`. */
  readonly grouped: readonly string[];
}

const TOKEN = new RegExp(
  [
    String.raw`\s+`,
    String.raw`(?<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')`,
    String.raw`(?<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?(?:ms|[smhdwy])?)`,
    String.raw`(?<word>[a-zA-Z_][\w:]*)`,
    String.raw`(?<variable>\$\w+)`,
    String.raw`(?<sign>=~|!~|!=|==|>=|<=|[-+*/%^<>=(){}[\],:@])`,
  ].join('|'),
  'y',
);

const GROUPING = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);
const OPERATORS = new Set(['and', 'or', 'unless', 'bool', 'offset', 'atan2', 'inf', 'nan']);
const CLOSES: Readonly<Record<string, string>> = { '(': ')', '{': '}', '[': ']' };

interface Token {
  readonly kind: string;
  readonly text: string;
}

/** Throws when it is not PromQL: an unknown character, brackets that do not match, a selector without a metric. */
export function readPromql(expression: string): Named {
  const tokens = tokensOf(expression);
  checkBrackets(tokens, expression);
  const metrics: NamedMetric[] = [];
  const grouped: string[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const { kind, text } = tokens[at] as Token;
    const next = tokens[at + 1]?.text;
    if (text === '[') while (tokens[at]?.text !== ']') at += 1;
    else if (text === '{') throw new Error(`a selector without a metric in ${expression}`);
    else if (kind !== 'word' || OPERATORS.has(text)) continue;
    else if (GROUPING.has(text)) {
      for (at += 2; tokens[at]?.text !== ')'; at += 1)
        if (tokens[at]?.kind === 'word') grouped.push(tokens[at]?.text ?? '');
    } else if (next !== '(' && !(next !== undefined && GROUPING.has(next) && tokens[at + 2]?.text === '(')) {
      const values: Record<string, string> = {};
      if (next === '{')
        for (at += 2; tokens[at]?.text !== '}'; at += 1) {
          const label = tokens[at] as Token;
          if (label.kind === 'word') values[label.text] = (tokens[at + 2]?.text ?? '').slice(1, -1);
        }
      metrics.push({ name: text, labels: Object.keys(values), values });
    }
  }
  return { metrics, grouped };
}

function tokensOf(expression: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < expression.length) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(expression);
    if (match === null) throw new Error(`no PromQL at ${from}: ${expression}`);
    const found = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined);
    if (found !== undefined) tokens.push({ kind: found[0], text: found[1] ?? '' });
  }
  return tokens;
}

function checkBrackets(tokens: readonly Token[], expression: string): void {
  const open: string[] = [];
  for (const { kind, text } of tokens) {
    if (kind !== 'sign') continue;
    if (CLOSES[text] !== undefined) open.push(CLOSES[text]);
    else if (')}]'.includes(text) && open.pop() !== text) throw new Error(`brackets of ${expression}`);
  }
  if (open.length > 0) throw new Error(`brackets of ${expression}`);
}

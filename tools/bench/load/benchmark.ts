/** The command line of a benchmark, from the defaults of its options. Test: test/tools/bench/run.test.ts. */
import { action, UsageError, wholeNumber, type Command } from '../../../src/cli/command.ts';

type Defaults = Readonly<Record<string, number | string | boolean>>;
type Values<D extends Defaults> = {
  readonly [Name in keyof D]: D[Name] extends number ? number : D[Name] extends boolean ? boolean : string;
};

/**
 * A command with one option for each default: a number takes whole numbers (0 only if it is the default), a string any
 * text, `false` makes a flag. `names` lists the words that may follow; `work` gets those that were named, or all.
 */
export function benchmark<const D extends Defaults>(
  usage: string,
  defaults: D,
  work: (values: Values<D>, names: readonly string[]) => Promise<number | void>,
  names: (values: Values<D>) => readonly string[] = () => [],
): Command {
  const options = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) =>
      typeof value === 'boolean'
        ? [name, { type: 'boolean' as const, default: value }]
        : [name, { type: 'string' as const, default: String(value) }],
    ),
  );
  return {
    usage,
    action: action({
      options,
      operands: Infinity,
      read(all, operands) {
        const given: Readonly<Record<string, unknown>> = all;
        const values = Object.fromEntries(
          Object.entries(defaults).map(([name, value]) => [
            name,
            typeof value === 'number'
              ? wholeNumber(`--${name}`, String(given[name]), Math.min(1, value))
              : given[name],
          ]),
        ) as Values<D>;
        const known = names(values);
        const unknown = operands.filter((name) => !known.includes(name));
        if (unknown.length > 0)
          throw new UsageError(`Unknown: ${unknown.join(', ')}. Known: ${known.join(', ') || 'nothing'}.`);
        return () => work(values, operands.length === 0 ? known : operands);
      },
    }),
  };
}

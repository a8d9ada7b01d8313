import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SetupError } from "../errors.ts";

/** A table of a view that readers see. */
export interface PublishedTable {
  readonly name: string;
  /** Columns that name a row; they never change for a row. */
  readonly key: readonly string[];
  /** Columns that a merged file is sorted by. */
  readonly order: readonly string[];
  /** Condition that a row still says something; null: every row does. */
  readonly alive: string | null;
  /** Column by whose range whole files are passed over; null: none is. Infinite values say nothing. */
  readonly time: string | null;
  /** Condition on rows that may have been published before in another version; null: every row may have been. */
  readonly replaces: string | null;
}

/** One file of `views/`. */
export interface View {
  readonly name: string;
  /** Raised when the meaning of the rows changes. */
  readonly version: number;
  readonly after: readonly string[];
  readonly publishes: readonly PublishedTable[];
  /** Statements that create the tables. */
  readonly schema: string;
  /** Statements that apply one batch. */
  readonly fold: readonly string[];
  /** What the query side reads, as a SELECT over `@table[condition]`; undefined when it reads the tables alone. */
  readonly read: string | undefined;
}

/**
 * Reads every view file of a folder, in an order in which each view follows the views it names in `after`
 * (ties by name). Throws SetupError naming the file that is wrong.
 */
export function loadViews(directory: string): readonly View[] {
  const files = readdirSync(directory)
    .filter((file) => file.endsWith(".sql"))
    .toSorted();
  return inOrder(
    files.map((file) =>
      parseView(file, readFileSync(join(directory, file), "utf8")),
    ),
  );
}

/** Parses one view file; `file` names it in errors. */
export function parseView(file: string, text: string): View {
  const [header, ...sections] = text.split(/^-- @/m);
  const directives = [
    ...(header as string).matchAll(
      /^-- (view|version|after|publish): *(.+)$/gm,
    ),
  ];
  const values = (name: string): string[] =>
    directives
      .filter((match) => match[1] === name)
      .map((match) => (match[2] as string).trim());
  const name = values("view")[0];
  const version = Number(values("version")[0]);
  if (name === undefined || !/^[a-z_]+$/.test(name))
    throw new SetupError(`views/${file}: needs a line "-- view: name"`);
  if (!Number.isInteger(version) || version < 1)
    throw new SetupError(`views/${file}: needs a line "-- version: N"`);
  const section = (title: string): string | undefined => {
    const found = sections.find((part) => part.startsWith(`${title}\n`));
    return found?.slice(title.length + 1);
  };
  return {
    name,
    version,
    after: values("after").flatMap((list) =>
      list.split(",").map((item) => item.trim()),
    ),
    publishes: values("publish").map((line) => {
      const match =
        /^(\w+) key\(([^)]+)\) order\(([^)]+)\)(?: time\((\w+)\))?(?: alive\(([^)]+)\))?(?: replaces\(([^)]+)\))?$/.exec(
          line,
        );
      if (match === null)
        throw new SetupError(
          `views/${file}: "-- publish: ${line}" is not "table key(columns) order(columns) [time(column)] [alive(condition)] [replaces(condition)]"`,
        );
      const columns = (list: string): string[] =>
        list.split(",").map((item) => item.trim());
      return {
        name: match[1] as string,
        key: columns(match[2] as string),
        order: columns(match[3] as string),
        time: match[4] ?? null,
        alive: match[5] ?? null,
        replaces: match[6] ?? null,
      };
    }),
    schema: section("schema") ?? "",
    fold: statements(section("fold") ?? ""),
    read: section("read"),
  };
}

/** Splits at semicolons that end a line, and drops comments. */
function statements(sql: string): string[] {
  return sql
    .replaceAll(/^--.*$/gm, "")
    .split(/;[ \t]*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}

function inOrder(views: readonly View[]): View[] {
  const placed: View[] = [];
  const waiting = views.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  while (waiting.length > 0) {
    const next = waiting.findIndex((view) =>
      view.after.every((name) => placed.some((other) => other.name === name)),
    );
    if (next < 0) {
      throw new SetupError(
        `views: ${waiting.map((view) => view.name).join(", ")} wait for each other or for a view that is missing`,
      );
    }
    placed.push(...waiting.splice(next, 1));
  }
  return placed;
}

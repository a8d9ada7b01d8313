/** What the documents link to, run and name is there. test/readme.test.ts runs what the README shows. */
import { deepEqual, ok } from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, it } from 'node:test';

const ROOT = join(import.meta.dirname, '..');
const { scripts: SCRIPTS } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

/** Documents by their paths, and without their code blocks. */
const TEXTS = new Map(
  globSync(['*.md', 'docs/**/*.md', 'lexicon/*.md', 'models/**/*.md'], { cwd: ROOT }).map((file) => [
    file,
    readFileSync(join(ROOT, file), 'utf8'),
  ]),
);
const withoutCode = (text: string): string => text.replaceAll(/^```.*?^```$/gms, '');

/** The anchors of a document, as GitHub makes them of its headings. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Map<string, number>();
  for (const [, heading = ''] of withoutCode(text).matchAll(/^#+ (.*)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = plain.replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-');
    anchors.set(anchor, (anchors.get(anchor) ?? 0) + 1);
  }
  return new Set(
    [...anchors].flatMap(([anchor, times]) => [
      anchor,
      ...Array.from({ length: times - 1 }, (_, index) => `${anchor}-${index + 1}`),
    ]),
  );
}

describe('the documents', () => {
  it('link only to files and headings that there are', () => {
    const faults: string[] = [];
    let links = 0;
    for (const [file, text] of TEXTS) {
      for (const [, link = ''] of withoutCode(text).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? file : normalize(join(dirname(file), path));
        links += 1;
        const headings = TEXTS.get(target);
        const isThere = existsSync(join(ROOT, target));
        if (!isThere || (anchor !== undefined && headings !== undefined && !anchorsOf(headings).has(anchor)))
          faults.push(`${file}: ${link}`);
      }
    }
    ok(links > 100);
    deepEqual(faults, []);
  });

  it('have an index of the decisions, with each page once and its title', () => {
    const folder = 'docs/decisions';
    const index = TEXTS.get(`${folder}/README.md`) ?? '';
    const listed = [...index.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)].map(
      ([, title, file]) => `${file}: ${title}`,
    );
    const pages = [...TEXTS].filter(([file]) => dirname(file) === folder && basename(file) !== 'README.md');
    ok(pages.length > 80);
    deepEqual(
      listed.toSorted(),
      pages.map(([file, text]) => `${basename(file)}: ${/^# (.*)$/m.exec(text)?.[1] ?? ''}`).toSorted(),
    );
  });

  it('name only scripts that there are, and those only files that there are', () => {
    const named = [...TEXTS].flatMap(([file, text]) =>
      [...text.matchAll(/npm (?:run (?:--silent )?([a-z][\w:-]*)|(start|test))\b/g)].map(
        ([, script, short]) => [file, script ?? short ?? ''] as const,
      ),
    );
    ok(named.length > 50);
    deepEqual(
      named.filter(([, script]) => !(script in SCRIPTS)),
      [],
    );
    const programs = named.flatMap(
      ([, script]) => /^(?:exec )?node (\S+)/.exec(SCRIPTS[script] ?? '')?.[1] ?? [],
    );
    deepEqual(
      programs.filter((program) => !existsSync(join(ROOT, program))),
      [],
    );
  });

  it('list the configuration that there is', () => {
    const example = readFileSync(join(ROOT, '.env.example'), 'utf8');
    const variables = [...example.matchAll(/^(?:# )?([A-Z_]+)=/gm)].map(([, name]) => name ?? '');
    ok(variables.length > 10);
    const listed = ['docs/operations.md', 'docs/models.md'].map((file) => TEXTS.get(file) ?? '').join('');
    deepEqual(
      variables.filter((name) => !listed.includes(`\`${name}\``)),
      [],
    );
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files below some folders that hold one of some words. */
export function filesWith(folders: readonly string[], words: readonly string[]): string[] {
  return folders
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
    .filter((file) => {
      try {
        const bytes = readFileSync(file);
        return words.some((word) => bytes.includes(word));
      } catch {
        // It went meanwhile.
        return false;
      }
    });
}

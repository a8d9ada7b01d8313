import { join } from 'node:path';
import { definitionOf } from '../store/epochs/definition.ts';
import { loadViews } from '../store/view-files.ts';
import type { AnalysisModel } from '../reader/threads/protocol.ts';
import { ASSIGNMENT_VERSION } from '../reader/threads/version.ts';

type Model = Pick<AnalysisModel, 'id' | 'enrichment'>;

/** The repository's own folders: views and models belong to the code. */
const ROOT = join(import.meta.dirname, '../..');
export const MODELS_DIRECTORY = join(ROOT, 'models');
export const VIEWS_DIRECTORY = join(ROOT, 'views');

/** What decides, besides the stream, which rows this code writes with a model: the views and the analysis. */
export function currentDefinition(model: Model): string {
  return definitionOf(loadViews(VIEWS_DIRECTORY), analysisOf(model));
}

export function analysisOf({ id, enrichment }: Model): string {
  return `model:${id} enrichment:${enrichment} assignment:${ASSIGNMENT_VERSION}`;
}

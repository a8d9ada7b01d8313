import { join } from 'node:path';
import { enrichmentId } from '../enrich/enricher.ts';
import { loadHeads } from '../enrich/heads.ts';
import { definitionOf } from '../store/epochs/definition.ts';
import { loadViews } from '../store/view-files.ts';
import type { AnalysisModel } from './analysis/protocol.ts';
import { ASSIGNMENT_VERSION } from './analysis/version.ts';

/** The repository's own folders: views and models belong to the code. */
const ROOT = join(import.meta.dirname, '..', '..');
export const MODELS_DIRECTORY = join(ROOT, 'models');
export const VIEWS_DIRECTORY = join(ROOT, 'views');

/** What decides, besides the stream, which rows this code writes with a model: the views and the analysis. */
export function currentDefinition(model: Pick<AnalysisModel, 'id'>): string {
  return definitionOf(loadViews(VIEWS_DIRECTORY), analysisOf(model));
}

export function analysisOf({ id }: Pick<AnalysisModel, 'id'>): string {
  return `model:${id} enrichment:${enrichmentId(loadHeads())} assignment:${ASSIGNMENT_VERSION}`;
}

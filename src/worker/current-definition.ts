/** The definition of the views as the present code and a model make them. */
import { join } from 'node:path';
import { definitionOf } from '../store/epochs/definition.ts';
import { loadViews } from '../store/view-files.ts';
import type { AnalysisModel } from '../reader/threads/protocol.ts';
import { ASSIGNMENT_VERSION } from '../reader/threads/version.ts';

type Model = Pick<AnalysisModel, 'id' | 'enrichment'>;

/** The repository root: views and models belong to the code. */
const ROOT = join(import.meta.dirname, '../..');
export const MODELS_DIRECTORY = join(ROOT, 'models');
export const VIEWS_DIRECTORY = join(ROOT, 'views');

/** Identifies all that determines the rows besides the stream: the views and the analysis. */
export function currentDefinition(model: Model): string {
  return definitionOf(loadViews(VIEWS_DIRECTORY), analysisOf(model));
}

/** The part of a definition that identifies the analysis: model, enrichment and assignment versions. */
export function analysisOf({ id, enrichment }: Model): string {
  return `model:${id} enrichment:${enrichment} assignment:${ASSIGNMENT_VERSION}`;
}

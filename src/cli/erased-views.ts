/**
 * Opens the views out of which erasures and retention take data: those of this machine, or those that machines share.
 *
 * Test: test/cli/erase.test.ts, test/cluster/machines.test.ts.
 */
import { join } from 'node:path';
import type { Making } from '../cluster/generations.ts';
import { openGenerations } from '../cluster/place.ts';
import type { Config } from '../config.ts';
import { SetupError } from '../errors.ts';
import { spillDirectory } from '../store/data-directory.ts';
import { refold } from '../store/live/refold.ts';
import { loadViews } from '../store/view-files.ts';
import { analysisOf, currentDefinition, VIEWS_DIRECTORY } from '../worker/current-definition.ts';
import { ownViews, type ErasedViews } from '../worker/erasure/recount.ts';
import type { RebuildSettings } from '../worker/rebuild/rebuild.ts';

/** The views of `config`, made anew with `settings`. */
export async function openErasedViews(config: Config, settings: RebuildSettings): Promise<ErasedViews> {
  if (config.viewsStore === null) return ownViews(settings);
  const { connection, dataDir, analysis, memoryBytes, signal } = settings;
  const generations = await openGenerations(config.viewsStore, connection, config.streamReplicas);
  const making: Making = {
    folder: join(dataDir, 'tmp', 'erasure'),
    signal,
    refold: (from, directory) =>
      refold({
        from,
        directory,
        views: loadViews(VIEWS_DIRECTORY),
        analysis: analysisOf(analysis.model),
        threads: 1,
        memoryBytes,
        spillDirectory: spillDirectory(dataDir, 'views-erasure'),
      }),
  };
  /** Others would not open what this version makes. */
  const assertOurs = async (): Promise<void> => {
    const { views } = await generations.answering();
    if (views.definition !== currentDefinition(analysis.model) || views.shards !== config.shards)
      throw new SetupError(
        'The views that answer are made by another version, or with other SHARDS: a machine with these has to do it.',
      );
  };
  return {
    isShared: true,
    async reached(instanceId) {
      await assertOurs();
      return generations.reached(instanceId);
    },
    dropUnfinished: () => undefined,
    async recount(instances, forget) {
      await assertOurs();
      await generations.recount(making, instances, forget);
    },
  };
}

/**
 * The script of a thread of `AnalysisPool`: serves requests with the shipped model and rules.
 *
 * Test: test/reader/threads/pool.test.ts.
 */
import { Assigner } from './assigner.ts';
import { loadEmbedder } from '../embedding/embedder.ts';
import { assistantDirection } from '../conversations/about-assistant.ts';
import { createEnricher, enrichmentId } from '../acts/enricher.ts';
import { loadHeads } from '../acts/heads.ts';
import { detectLanguage } from '../document/detect.ts';
import { serveAnalysis } from './server.ts';

await serveAnalysis(async ({ model, modelsDirectory, reports }, steps) => {
  const embedder = await loadEmbedder({ model, modelsDirectory });
  const heads = loadHeads();
  const { id, thresholds, dimensions } = embedder;
  // Texts of curations have no place among the turns of a batch.
  const unwatched = createEnricher({ embedder, cached: 0, heads });
  return {
    model: { id, dimensions, enrichment: enrichmentId(heads) },
    enricher: createEnricher({ embedder, steps, heads }),
    embed: (texts) => embedder.embed(texts),
    async embedRequest(content) {
      const [found] = await unwatched.enrich([{ role: 'user', content }]);
      if (found?.kind === 'about-assistant') return [assistantDirection(dimensions)];
      return found?.vector == null ? [] : [found.vector];
    },
    newAssigner: (memoryBytes) =>
      new Assigner({ thresholds, dimensions, detectLanguage, steps, memoryBytes, reports }),
    close: () => embedder.close(),
  };
});

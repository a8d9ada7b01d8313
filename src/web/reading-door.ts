/**
 * Lets callers in this process use the reading routes with the same checks as over HTTP.
 *
 * Test: test/web/reading-door.test.ts, test/web/mcp-route.test.ts, test/e2e/mcp-rules.test.ts.
 */
import { parseQueryParameters } from '../query/parameters.ts';
import { notFoundPath } from './auth.ts';
import type { FoundKey, HttpDependencies } from './dependencies.ts';
import { noInstance, seesInstance } from './instance-access.ts';
import { checkInstance } from './instance-request.ts';
import { listInstances } from './routes/instances-route.ts';
import type { ReadingDoor } from './routes/mcp-route.ts';
import { readQuestion, readingRoutes } from './routes/reading-routes.ts';

/** Returns a function that makes the door of a caller. */
export function createReadingDoors(
  query: NonNullable<HttpDependencies['query']>,
  instances: HttpDependencies['instances'],
): (caller: FoundKey) => ReadingDoor {
  const routes = new Map(readingRoutes(query).map((reading) => [shapeOf(reading.route.path), reading]));
  const check = async (caller: FoundKey, instanceId: string): Promise<void> => {
    if (!seesInstance(caller, instanceId)) throw noInstance(instanceId);
    await checkInstance(caller.projectId, instanceId, query.instances);
  };
  return (caller) => ({
    async get(path, given) {
      if (path === '/instances') return listInstances(instances, caller, given);
      if (path === '/query') {
        const asked = parseQueryParameters(given);
        await check(caller, asked.instanceId);
        return query.runner.run(asked, caller.projectId);
      }
      const [, , id = ''] = path.split('/');
      const route = routes.get(shapeOf(path));
      if (route === undefined) throw notFoundPath('GET', path);
      const question = readQuestion(route, given, id);
      await check(caller, question.instanceId);
      return question.answer(caller.projectId);
    },
  });
}

/** Replaces the id of a path, the part after its first name, by `*`. */
function shapeOf(path: string): string {
  return path.replace(/^(\/[^/]*)\/[^/]*$/, '$1/*');
}

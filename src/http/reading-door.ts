/** Covered by test/http/mcp-route.test.ts and test/e2e/mcp-rules.test.ts. */
import type { ReadingDoor } from '../mcp/reading.ts';
import { parseQueryParameters } from '../query/parameters.ts';
import { notFoundPath } from './auth.ts';
import type { HttpDependencies } from './dependencies.ts';
import { checkInstance } from './instance-request.ts';
import { listInstances } from './instances-route.ts';
import { readQuestion, readingRoutes } from './reading-routes.ts';

/** The routes that read, for callers in this process; one door for each project. */
export function createReadingDoors(
  query: NonNullable<HttpDependencies['query']>,
  instances: HttpDependencies['instances'],
): (projectId: string) => ReadingDoor {
  const routes = new Map(readingRoutes(query).map((reading) => [reading.route.path.split('/')[1], reading]));
  return (projectId) => ({
    async get(path, given) {
      if (path === '/instances') return listInstances(instances, projectId, given);
      if (path === '/query') {
        const asked = parseQueryParameters(given);
        await checkInstance(projectId, asked.instanceId, query.instances);
        return query.runner.run(asked, projectId);
      }
      const [, name = '', id = ''] = path.split('/');
      const route = routes.get(name);
      if (route === undefined) throw notFoundPath('GET', path);
      const question = readQuestion(route, given, id);
      await checkInstance(projectId, question.instanceId, query.instances);
      return question.answer(projectId);
    },
  });
}

/**
 * The view of ways to connect: lines to copy with this service's address and this instance.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useState } from 'preact/hooks';
import { api, type Instance } from './api.ts';
import { Erasures } from './erase.tsx';
import { useNavigation } from './hooks.ts';
import { Kept } from './kept.tsx';
import { Section } from './parts.tsx';
import { ZoneInput } from './zone-input.tsx';
import { zoneName } from './zone.ts';

/** A way to connect. `YOUR_KEY` stands for the key, which the page never displays. */
interface Way {
  readonly title: string;
  readonly words: string;
  readonly lines: string;
  /** Document in the repository. */
  readonly page: string;
}

function waysIn(url: string, instance: string): readonly Way[] {
  const messages = '[{"role":"user","userId":"ada","content":"Where is my parcel?"}]';
  const body = `{"instanceId":"${instance}","messages":${messages}}`;
  return [
    {
      title: 'HTTP',
      words:
        'One request adds messages to a conversation. The answer names its sessionId; send it with the next ones.',
      lines: `curl ${url}/v1/ingest/ -H 'x-api-key: YOUR_KEY' -H 'content-type: application/json' \\\n  -d '${body}'`,
      page: 'docs/api.md',
    },
    {
      title: 'OpenTelemetry',
      words:
        'For applications that are traced already: OpenTelemetry GenAI, OpenInference, OpenLLMetry, the AI SDK, ' +
        'gateways. Exporters add /v1/traces and /v1/logs to the address. The library must record what was said, ' +
        'as the last line asks of OpenTelemetry.',
      lines:
        `OTEL_EXPORTER_OTLP_ENDPOINT=${url}\n` +
        `OTEL_EXPORTER_OTLP_HEADERS=x-api-key=YOUR_KEY,x-instance-id=${instance}\n` +
        'OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf\nOTEL_METRICS_EXPORTER=none\n' +
        'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true',
      page: 'docs/otlp.md',
    },
    {
      title: 'Files',
      words:
        'Exports of ChatGPT, Claude, Langfuse, LangSmith, Intercom, Zendesk and others, CSV and Parquet. ' +
        'Importing a file again adds only what is new.',
      lines: `UT_KEY=YOUR_KEY npm run import -- FILE --url ${url} --instance ${instance}`,
      page: 'docs/import.md',
    },
    {
      title: 'TypeScript',
      words: 'A client without dependencies. It sends in batches, retries, and has typed queries.',
      lines:
        "import { Undertone } from 'undertone/client';\n\n" +
        `const undertone = new Undertone({\n  url: '${url}',\n  key: 'YOUR_KEY',\n  instanceId: '${instance}',\n});`,
      page: 'docs/client.md',
    },
  ];
}

function waysOut(url: string, instance: string): readonly Way[] {
  const alert =
    `{"instanceId":"${instance}","name":"Rising topics",` +
    '"condition":{"kind":"rising","groupBy":"TOPIC","window":"DAY"},' +
    '"delivery":{"url":"https://example.com/undertone"}}';
  return [
    {
      title: 'MCP',
      words:
        'A language model can ask, with six tools that only read. These lines are for Cursor; other clients take ' +
        'nearly the same.',
      lines: JSON.stringify(
        { mcpServers: { undertone: { url: `${url}/mcp`, headers: { 'x-api-key': 'YOUR_KEY' } } } },
        null,
        2,
      ),
      page: 'docs/mcp.md',
    },
    {
      title: 'Alerts',
      words:
        'A signed webhook or a message to Slack when something is new, frequent or rising, and a weekly digest. ' +
        'The page Alerts makes them, too.',
      lines:
        `curl ${url}/v1/alerts/ -H 'x-api-key: YOUR_KEY' -H 'content-type: application/json' \\\n` +
        `  -d '${alert}'`,
      page: 'docs/alerts.md',
    },
    {
      title: 'Files',
      words:
        'Parquet files for a data warehouse, brought up to date every hour; or the rows of one query as CSV.',
      lines:
        `npm run sink -- --to FOLDER --instance ${instance}\n` +
        `UT_KEY=YOUR_KEY npm run export -- --group-by SESSION --url ${url} --instance ${instance}`,
      page: 'docs/sink.md',
    },
  ];
}

export function ConnectPage({ instances }: { readonly instances: readonly Instance[] }) {
  const { state } = useNavigation();
  return (
    <>
      <div class="heading">
        <h1>Connect</h1>
        <p class="lead">
          How conversations come into this instance, and how its answers reach other programs. Put your key in
          place of YOUR_KEY. The npm commands run in Undertone’s folder, and what is sent by HTTP is counted
          within about two seconds.
        </p>
      </div>
      <WaysIn />
      <Ways title="Answers out" ways={waysOut(location.origin, state.instance)} />
      <TimeZone instance={state.instance} />
      <Kept />
      <Erasures instances={instances} />
    </>
  );
}

/** Sets the time zone of the instance for everyone who queries it. */
function TimeZone({ instance }: { readonly instance: string }) {
  const [zone, setZone] = useState(zoneName());
  const [fault, setFault] = useState('');
  const save = (event: Event): void => {
    event.preventDefault();
    api.setTimeZone(instance, zone.trim()).then(
      () => location.reload(),
      (error: Error) => setFault(error.message),
    );
  };
  return (
    <Section title="Time zone">
      <form class="row" onSubmit={save}>
        <label>
          Days, weeks and months of this instance begin at midnight in{' '}
          <ZoneInput value={zone} set={setZone} />
        </label>{' '}
        <button type="submit" disabled={zone.trim() === '' || zone.trim() === zoneName()}>
          Save
        </button>
      </form>
      <p class="faint" role="status">
        {fault === ''
          ? 'It holds for everybody who asks about this instance, and for programs that name no zone.'
          : fault}
      </p>
    </Section>
  );
}

export function WaysIn() {
  const { state } = useNavigation();
  return <Ways title="Conversations in" ways={waysIn(location.origin, state.instance)} />;
}

function Ways({ title, ways }: { readonly title: string; readonly ways: readonly Way[] }) {
  return (
    <Section title={title}>
      {ways.map((way) => (
        <article key={way.title} class="way">
          <h3>{way.title}</h3>
          <p>
            {way.words} <span class="faint">More in {way.page}.</span>
          </p>
          <Lines lines={way.lines} about={way.title} />
        </article>
      ))}
    </Section>
  );
}

/** Lines with a copy button. Browsers allow copying only over HTTPS or on localhost. */
export function Lines({ lines, about }: { readonly lines: string; readonly about: string }) {
  const [state, setState] = useState('Copy');
  const copy = (): void => {
    navigator.clipboard.writeText(lines).then(
      () => setState('Copied'),
      () => setState('Not copied'),
    );
  };
  return (
    <div class="lines">
      <pre tabIndex={0}>
        <code>{lines}</code>
      </pre>
      {isSecureContext ? (
        <button type="button" class="quiet" onClick={copy}>
          {state}
          <span class="hidden"> the lines for {about}</span>
        </button>
      ) : null}
    </div>
  );
}

/** How conversations get in, and answers out: lines to copy, with this address and this instance in them. */
import { useState } from 'preact/hooks';
import { useNavigation } from './hooks.ts';
import { Section } from './parts.tsx';

/** A way in or out. `YOUR_KEY` stands for the key: the page writes no key anywhere. */
interface Way {
  readonly title: string;
  readonly words: string;
  readonly lines: string;
  /** Of the documents in the repository. */
  readonly page: string;
}

function waysIn(url: string, instance: string): readonly Way[] {
  const body = `{"instanceId":"${instance}","messages":[{"role":"user","userId":"ada","content":"Where is my parcel?"}]}`;
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
        'For applications that are traced already: OpenTelemetry GenAI, OpenInference, the AI SDK, gateways. Content must be recorded.',
      lines:
        `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${url}/v1/traces\n` +
        `OTEL_EXPORTER_OTLP_TRACES_HEADERS=x-api-key=YOUR_KEY,x-instance-id=${instance}\n` +
        'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true',
      page: 'docs/otlp.md',
    },
    {
      title: 'Files',
      words:
        'Exports of ChatGPT, Claude, Langfuse, LangSmith, Intercom, Zendesk and others, CSV and Parquet. The same file twice adds nothing.',
      lines: `UT_KEY=YOUR_KEY npm run import -- FILE --url ${url} --instance ${instance}`,
      page: 'docs/import.md',
    },
    {
      title: 'TypeScript',
      words: 'A client without dependencies: batches, retries and typed queries.',
      lines:
        "import { Undertone } from 'undertone/client';\n\n" +
        `const undertone = new Undertone({\n  url: '${url}',\n  key: 'YOUR_KEY',\n  instanceId: '${instance}',\n});`,
      page: 'docs/client.md',
    },
  ];
}

function waysOut(url: string, instance: string): readonly Way[] {
  return [
    {
      title: 'Your assistant (MCP)',
      words: 'Six tools that read: overview, topics, why, conversations, transcript and changes.',
      lines: JSON.stringify(
        { mcpServers: { undertone: { url: `${url}/mcp`, headers: { 'x-api-key': 'YOUR_KEY' } } } },
        null,
        2,
      ),
      page: 'docs/mcp.md',
    },
    {
      title: 'Alerts',
      words: 'A signed webhook, or a message to Slack, when something rises; and a digest each Monday.',
      lines:
        `curl ${url}/v1/alerts/ -H 'x-api-key: YOUR_KEY' -H 'content-type: application/json' \\\n` +
        `  -d '{"instanceId":"${instance}", …}'`,
      page: 'docs/alerts.md',
    },
    {
      title: 'Files',
      words: 'Parquet for your warehouse, written again where numbers changed; or one table as CSV.',
      lines:
        `npm run sink -- --to FOLDER --instance ${instance}\n` +
        `UT_KEY=YOUR_KEY npm run export -- --group-by SESSION --instance ${instance}`,
      page: 'docs/sink.md',
    },
  ];
}

export function ConnectPage() {
  const { state } = useNavigation();
  return (
    <>
      <div class="heading">
        <h1>Connect</h1>
        <p class="lead">
          Ways in and out of this instance. Put your key in place of YOUR_KEY; the commands run in the folder
          of Undertone. What is sent shows here within two seconds.
        </p>
      </div>
      <WaysIn />
      <Ways title="Answers out" ways={waysOut(location.origin, state.instance)} />
    </>
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

/** Lines with a button that copies them. */
function Lines({ lines, about }: { readonly lines: string; readonly about: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <div class="lines">
      <pre tabIndex={0}>
        <code>{lines}</code>
      </pre>
      <button
        type="button"
        class="quiet"
        onClick={() => {
          void navigator.clipboard.writeText(lines).then(() => setCopied(true));
        }}
      >
        {isCopied ? 'Copied' : 'Copy'}
        <span class="hidden"> the lines for {about}</span>
      </button>
    </div>
  );
}

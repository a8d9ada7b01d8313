import { chatgpt } from './chatgpt.ts';
import { claude } from './claude.ts';
import type { Format } from './format.ts';
import { intercom } from './intercom.ts';
import { langfuse } from './langfuse.ts';
import { langsmith } from './langsmith.ts';
import { lmsys } from './lmsys.ts';
import { openaiBatch } from './openai-batch.ts';
import { openai } from './openai.ts';
import { sharegpt } from './sharegpt.ts';
import { slack } from './slack.ts';
import { undertone } from './undertone.ts';
import { whatsapp } from './whatsapp.ts';
import { zendesk } from './zendesk.ts';

/** Every format that is recognised, our own first. To add one, write its file and name it here. */
export const FORMATS: readonly Format[] = [
  undertone,
  openai,
  openaiBatch,
  chatgpt,
  claude,
  sharegpt,
  lmsys,
  langfuse,
  langsmith,
  intercom,
  zendesk,
  whatsapp,
  slack,
];

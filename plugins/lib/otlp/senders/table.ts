import { adk } from './adk.ts'
import { aiSdk } from './ai-sdk.ts'
import { braintrust } from './braintrust.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { geminiCli } from './gemini-cli.ts'
import { genAi } from './gen-ai.ts'
import { genkit } from './genkit.ts'
import { laminar } from './laminar.ts'
import { langfuse } from './langfuse.ts'
import { langSmith } from './langsmith.ts'
import { mastra } from './mastra.ts'
import { mlflow } from './mlflow.ts'
import { openAiAgents } from './openai-agents.ts'
import { openInference } from './openinference.ts'
import { openLlmetry, openLlmetryAnthropic } from './openllmetry.ts'
import { pydanticAi } from './pydantic-ai.ts'
import type { Sender } from './sender.ts'
import { sentry } from './sentry.ts'

/** All senders and conventions, the ones that count first where a span follows several. */
export const senders: readonly Sender[] = [
  genAi,
  openInference,
  openLlmetry,
  openLlmetryAnthropic,
  aiSdk,
  langfuse,
  langSmith,
  mastra,
  mlflow,
  claudeCode,
  codex,
  geminiCli,
  pydanticAi,
  genkit,
  adk,
  sentry,
  braintrust,
  laminar,
  openAiAgents,
]

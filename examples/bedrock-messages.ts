import { apiStyle } from 'guard-gateway/core'
import { messages } from 'guard-gateway/plugins/api-styles/messages'

/**
 * Messages as Amazon Bedrock's InvokeModel takes them: the model is in the path, and whole replies are those of Messages.
 * With `custom-signer.ts` beside it, requests are signed for `https://bedrock-runtime.<region>.amazonaws.com`.
 */
export const bedrockMessages = apiStyle({
  ...messages,
  id: 'bedrock_messages',
  paths: ['/model/{model}/invoke'],
  unguarded: [],
  envelope: (members, { path, params }) => ({
    ...messages.envelope(members),
    model: params.model ?? path,
    stream: false,
  }),
})

import { GuardError } from 'guard-gateway/core'
import { mcpErrors } from '../error-codes.ts'
import type { Mcp } from '../mcp.ts'
import type { Width } from './likeness.ts'
import { replacePolicyText } from './policy-text.ts'
import { type RuleProposal, ruleProposal } from './rule-proposal.ts'

/** Writes the rule of a call into the policy file, its comments kept; the gateway reads it anew. `policy_version`: that of the policy that was shown. Throws what `ruleProposal` throws, RULE_NOT_WRITABLE and VERSION_CONFLICT. */
export const writeRule = async (
  mcp: Mcp,
  id: string,
  width: Width,
  policy_version: string | undefined,
): Promise<RuleProposal> => {
  const proposal = await ruleProposal(mcp, id, width)
  const { file, before, after, stuck, rule_id } = proposal
  if (file === null)
    throw new GuardError(
      mcpErrors.RULE_NOT_WRITABLE,
      'No policy file is configured: set mcp.policy to one, and copy the rule into it.',
    )
  if (after === null) throw new GuardError(mcpErrors.RULE_NOT_WRITABLE, `The rule would not help: ${stuck.join('; ')}.`)
  if (policy_version !== undefined && policy_version !== proposal.policy_version)
    throw new GuardError('VERSION_CONFLICT', 'The policy is another by now. Look at the rule anew.')
  await replacePolicyText(file, before, after)
  const details = { approval_id: id, width, file }
  await mcp.gateway.service('audit').get()?.note({ action: 'policy.rule_added', subject: rule_id, details })
  return proposal
}

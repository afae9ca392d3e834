import { Hono } from 'hono'
import { bringsTools } from '../../../rollout/episode/index.js'
import { answerMcpRequest, type ToolsAtAddress } from '../../kernel/index.js'
import type { OpenEpisode } from '../episodes.js'
import { actionOf, REPLY_TOOL, textOf } from '../reply-tool.js'
import { rpcError } from './answers.js'
import type { EpisodeService } from './service.js'

/** Key in a result's `_meta` for the reward of an action, if the episode's signal reports one. */
export const REWARD_META = 'prove/reward'

/**
 * Serves MCP at `/episodes/<id>/mcp`: the tools of one episode and `reply_to_user`. There are no MCP sessions: the address identifies the
 * episode, so any client can play it over any number of connections.
 */
export function episodeMcp({ episodes }: EpisodeService): Hono {
  const app = new Hono()
  app.post('/episodes/:id/mcp', ({ req }) =>
    episodes.use(req.param('id'), (open) => answerMcpRequest(req.raw, toolsOf(open))),
  )
  // GET would open a stream and DELETE would end a session: this endpoint has neither.
  app.all('/episodes/:id/mcp', () => new Response(null, { status: 405, headers: { allow: 'POST' } }))
  app.onError(rpcError)
  return app
}

const toolsOf = ({ episode, reportReward }: OpenEpisode): ToolsAtAddress => ({
  name: 'prove-episode',
  instructions: episode.opening.map(({ content }) => content).join('\n\n'),
  tools: [...episode.offered, REPLY_TOOL],
  mayChange: bringsTools(episode.task),
  async call(name, args) {
    const outcome = await episode.act(actionOf(name, args))
    const { reward, scored } = reportReward()
    return {
      ok: outcome.type !== 'result' || outcome.ok,
      text: textOf(outcome),
      ...(outcome.type === 'user' && outcome.brought ? { toolsChanged: true } : {}),
      ...(scored === null ? {} : { meta: { [REWARD_META]: { reward, over: episode.isOver, ...scored } } }),
    }
  },
})

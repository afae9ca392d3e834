import { Hono } from 'hono'
import { bringsTools } from '../../../rollout/episode/index.js'
import { answerMcpRequest, type ToolsAtAddress } from '../../kernel/index.js'
import type { OpenEpisode } from '../episodes.js'
import { actionOf, REPLY_TOOL, textOf } from '../reply-tool.js'
import { rpcError } from './answers.js'
import type { EpisodeService } from './service.js'

/** Key of a result's `_meta` that holds what the action earned, where the episode's signal tells it. */
export const REWARD_META = 'prove/reward'

/**
 * MCP at `/episodes/<id>/mcp`: the tools of one episode, and `reply_to_user`. Without sessions: the address is the episode, so any
 * client can play it, over any number of connections.
 */
export function episodeMcp({ episodes }: EpisodeService): Hono {
  const app = new Hono()
  app.post('/episodes/:id/mcp', ({ req }) =>
    episodes.use(req.param('id'), (open) => answerMcpRequest(req.raw, toolsOf(open))),
  )
  // There is no stream to hold open and no session to end.
  app.all('/episodes/:id/mcp', () => new Response(null, { status: 405, headers: { allow: 'POST' } }))
  app.onError(rpcError)
  return app
}

const toolsOf = ({ episode, tell }: OpenEpisode): ToolsAtAddress => ({
  name: 'prove-episode',
  instructions: episode.opening.map(({ content }) => content).join('\n\n'),
  tools: [...episode.offered, REPLY_TOOL],
  mayChange: bringsTools(episode.task),
  async call(name, args) {
    const outcome = await episode.act(actionOf(name, args))
    const { reward, scored } = tell()
    return {
      ok: outcome.type !== 'result' || outcome.ok,
      text: textOf(outcome),
      ...(outcome.type === 'user' && outcome.brought ? { toolsChanged: true } : {}),
      ...(scored === null ? {} : { meta: { [REWARD_META]: { reward, over: episode.isOver, ...scored } } }),
    }
  },
})

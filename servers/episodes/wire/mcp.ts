import { Hono } from 'hono'
import { bringsTools } from '../../../rollout/episode/index.js'
import type { OpenEpisode } from '../episodes.js'
import { aroundCall, MESSAGE_KEY, messageOfParsedCall, REPLY_TOOL, toolResponse } from '../reply-tool.js'
import { rpcError } from './answers.js'
import { answerModelCalls, type ModelTools } from './model-calls.js'
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
    episodes.use(req.param('id'), (open) => answerModelCalls(req.raw, toolsOf(open))),
  )
  // GET would open a stream and DELETE would end a session: this endpoint has neither.
  app.all('/episodes/:id/mcp', () => new Response(null, { status: 405, headers: { allow: 'POST' } }))
  app.onError(rpcError)
  return app
}

const toolsOf = ({ episode, reportReward }: OpenEpisode): ModelTools => ({
  name: 'prove-episode',
  instructions: episode.opening.map(({ content }) => content).join('\n\n'),
  tools: [...episode.offered, REPLY_TOOL],
  mayChange: bringsTools(episode.task),
  async call(name, args, meta) {
    const reaction = await episode.act(messageOfParsedCall(name, args, aroundCall(meta[MESSAGE_KEY])))
    const { reward, scored } = reportReward()
    return {
      ...toolResponse(reaction),
      ...(reaction.added.length > 0 ? { toolsChanged: true } : {}),
      ...(scored === null ? {} : { meta: { [REWARD_META]: { reward, over: episode.isOver, ...scored } } }),
    }
  },
})

import { type Block, liftAnyBlock, liftBlock, listAllBlocks, listBlocks } from '@palisade/contract/blocks';
import { nextPage } from '#platform/page.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { BlockRow, Blocks } from './blocks.ts';
import { refuse } from './enforcement.refusals.ts';
import type { LoginGuard } from './login-guard.ts';

interface Accounts {
  findUsers(ids: readonly string[]): Promise<{ id: string; email: string }[]>;
}

function shown({ id, kind, source, rule, since, until, level }: BlockRow): Block {
  return { id, kind, source, rule, since, until, level };
}

export function serveEnforcement(api: Api, parts: { blocks: Blocks; guard: LoginGuard; accounts: Accounts }): void {
  const { blocks, guard, accounts } = parts;

  serve(api, listBlocks, 'customer', async ({ session, query, header, request }) => {
    const rows = await blocks.list(query, session.user.id);
    return nextPage({ query, request, header }, rows).map(shown);
  });

  serve<typeof liftBlock, { id: string; user_id: string }>(
    api,
    liftBlock,
    {
      async find({ id }) {
        const block = await blocks.find(id);
        return block?.user_id ? { id, user_id: block.user_id } : undefined;
      },
    },
    // One that is over by now is already in the wanted state.
    async ({ row, session }) => void (await guard.lift(row.id, session.user.id)),
  );

  serve(api, listAllBlocks, 'admin', async ({ query, header, request }) => {
    const rows = await blocks.list(query);
    nextPage({ query, request, header }, rows);
    const owners = await accounts.findUsers(rows.flatMap(({ user_id }) => user_id ?? []));
    return rows.map((row) => ({ ...shown(row), email: owners.find(({ id }) => id === row.user_id)?.email ?? null }));
  });

  serve(api, liftAnyBlock, 'admin', async ({ session, body }) => {
    const lifted = await guard.lift(body.block_id, session.user.id);
    if (!lifted) throw refuse('block.ended');
  });
}

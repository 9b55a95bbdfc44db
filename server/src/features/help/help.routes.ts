import {
  changeArticle,
  createArticle,
  deleteArticle,
  listAllArticles,
  listArticles,
  readArticle,
  suggestArticles,
} from '@palisade/contract/help';
import { may } from '@palisade/contract/may';
import { type Api, serve } from '#platform/serve.ts';
import { refuse } from './help.refusals.ts';
import type { Help } from './help.ts';

export function serveHelp(api: Api, help: Help): void {
  serve(api, listArticles, 'anyone', ({ query }) => help.list(query.search));
  serve(api, readArticle, 'anyone', async ({ query }) => {
    const article = await help.read(query.slug);
    if (article === undefined) throw refuse('help_page.none');
    return article;
  });
  serve(api, suggestArticles, 'customer', ({ query }) => help.suggest(query.text));

  const pages = { find: ({ id }: { id: string }) => help.find(id), may: may.administrate };
  serve(api, listAllArticles, 'admin', () => help.listAll());
  serve(api, createArticle, 'admin', ({ body }) => help.create(body));
  serve(api, changeArticle, pages, ({ row, body }) => help.change(row.id, body));
  serve(api, deleteArticle, pages, ({ row }) => help.remove(row.id));
}

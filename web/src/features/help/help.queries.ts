import {
  type ArticleWritten,
  changeArticle,
  createArticle,
  deleteArticle,
  listAllArticles,
  listArticles,
  readArticle,
} from '@palisade/contract/help';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';

const HELP_KEY = ['help'];

export const articlesQuery = (search: string) =>
  queryOptions({
    queryKey: [...HELP_KEY, 'list', search],
    queryFn: ({ signal }) => call(listArticles, { query: { search }, signal }),
  });

export const articleQuery = (slug: string) =>
  queryOptions({
    queryKey: [...HELP_KEY, 'article', slug],
    queryFn: ({ signal }) => call(readArticle, { query: { slug }, signal }),
  });

export const allArticlesQuery = queryOptions({
  queryKey: [...HELP_KEY, 'all'],
  queryFn: ({ signal }) => call(listAllArticles, { signal }),
});

/** Creates an article, or changes the one with an id. `onWritten` is called even after the screen was left. */
export function useWriteArticle(id: string | undefined, onWritten: () => void) {
  return useChange({
    onSuccess: onWritten,
    of: [createArticle, changeArticle],
    mutationFn: (body: ArticleWritten) =>
      id === undefined ? call(createArticle, { body }) : call(changeArticle, { params: { id }, body }),
  });
}

export function useDeleteArticle() {
  return useChange({
    of: deleteArticle,
    mutationFn: (id: string) => call(deleteArticle, { params: { id } }),
  });
}

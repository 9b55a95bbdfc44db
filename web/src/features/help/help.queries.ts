import {
  type ArticleWritten,
  changeArticle,
  createArticle,
  deleteArticle,
  listAllArticles,
  listArticles,
  readArticle,
} from '@palisade/contract/help';
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { call } from '#api/call.ts';

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

function useReadAnew() {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: HELP_KEY });
}

/** Writes a new article, or changes the one with an id. */
export function useWriteArticle(id: string | undefined) {
  return useMutation({
    mutationFn: (body: ArticleWritten) =>
      id === undefined ? call(createArticle, { body }) : call(changeArticle, { params: { id }, body }),
    onSettled: useReadAnew(),
  });
}

export function useDeleteArticle() {
  return useMutation({
    mutationFn: (id: string) => call(deleteArticle, { params: { id } }),
    onSettled: useReadAnew(),
  });
}

import { Textarea } from '@mantine/core';
import type { ChatState } from '@palisade/contract/chat-read';
import { IconStar, IconStarFilled } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { Button } from '#ui/button.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { useRate } from './chat.queries.ts';

const WORDS = ['Very bad', 'Bad', 'All right', 'Good', 'Very good'];

/** Asked once a conversation is closed; another answer replaces the first. */
export function Rating({ given }: NonNullable<ChatState['rating']>) {
  const rate = useRate();
  const [chosen, setChosen] = useState(given ?? 0);
  const [comment, setComment] = useState('');
  const [isOpen, setIsOpen] = useState(given === null);

  function submit(event: FormEvent) {
    event.preventDefault();
    rate.mutate({ rating: chosen, comment }, { onSuccess: () => setIsOpen(false) });
  }

  if (!isOpen)
    return (
      <div className="rating" role="status">
        <p>
          Thank you. You rated this help {given ?? chosen} of 5: {WORDS[(given ?? chosen) - 1]?.toLowerCase()}.
        </p>
        <Button variant="text" size="s" onClick={() => setIsOpen(true)}>
          Change the rating
        </Button>
      </div>
    );
  return (
    <form className="rating" onSubmit={submit}>
      <fieldset className="rating__stars">
        <legend>This conversation was closed. How good was the help?</legend>
        {WORDS.map((words, index) => {
          const value = index + 1;
          const Star = value <= chosen ? IconStarFilled : IconStar;
          return (
            <label key={words} title={words}>
              <input type="radio" name="rating" checked={chosen === value} onChange={() => setChosen(value)} />
              <Star size={24} stroke={1.5} aria-hidden="true" />
              <span className="visually-hidden">
                {value} of 5: {words}
              </span>
            </label>
          );
        })}
        <span className="rating__words" aria-hidden="true">
          {WORDS[chosen - 1]}
        </span>
      </fieldset>
      {chosen > 0 && (
        <div className="rating__line">
          <Textarea
            aria-label="What was good, or what was missing"
            placeholder="What was good, or what was missing (if you like)"
            rows={1}
            maxLength={1_000}
            value={comment}
            onChange={(event) => setComment(event.currentTarget.value)}
          />
          <Button type="submit" loading={rate.isPending}>
            Send rating
          </Button>
        </div>
      )}
      <Refusal error={rate.error} />
    </form>
  );
}

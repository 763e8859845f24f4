insert into shop.books values
  (1, 'Frankenstein', 'Mary Shelley', 'A scientist gives life to a creature and leaves it alone.'),
  (2, 'Dracula', 'Bram Stoker', 'A count moves from Transylvania to England, at night.'),
  (3, 'The Time Machine', 'H. G. Wells', 'A traveller sees what has become of people in the far future.'),
  (4, 'Twenty Thousand Leagues Under the Seas', 'Jules Verne', 'A captain shows his submarine to guests who may not leave.'),
  (5, 'The War of the Worlds', 'H. G. Wells', 'Visitors from Mars land in Surrey, with heat rays.'),
  (6, 'Moby-Dick', 'Herman Melville', 'A captain hunts a white whale over all the oceans.')
  on conflict do nothing;

// What a search finds, best first: names, then titles, then text; pages before the text of files.
var Scorer = {
  score: result => result[4] - (result[0].startsWith("source/") ? 4 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

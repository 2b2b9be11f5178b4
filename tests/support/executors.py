"""An executor without processes: each job runs, or is lost, as it is handed over."""

from concurrent.futures import Future

from rfbench.experiment.executors import Executor


class Lost(Exception):
    """A worker is gone."""


class Fake:
    """Runs jobs in this process.

    `lose` maps the number of a submission to what is done in its place: a call with the words of
    the submission, after which its worker is lost.
    """

    def __init__(self, workers=1, lose=None):
        self.lose, self.jobs, self.ended = lose or {}, [], []
        self.executor = Executor(
            "fake",
            self.submit,
            lambda: workers,
            (Lost,),
            kill=lambda: self.ended.append("killed"),
            close=lambda: self.ended.append("closed"),
        )

    def submit(self, function, *words):
        future = Future()
        number = len(self.jobs)
        self.jobs.append(words[0])
        try:
            if number in self.lose:
                self.lose[number](*words)
                raise Lost("on purpose")
            future.set_result(function(*words))
        except Exception as error:
            future.set_exception(error)
        return future
